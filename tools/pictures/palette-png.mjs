// Writes a picture as a PNG of few colours, a quarter of the size of one with all. A page has few colours, and many shades of
// them at the edges of its letters: those that a reader would miss stay, and each other becomes the nearest of those.
import { crc32, deflateSync } from 'node:zlib'

const COLOURS_MAX = 48

/** @param points four bytes each: red, green, blue, and how opaque, which does not count. */
export function palettePng({ width, height, points }) {
  const counts = countsOf(points)
  const palette = paletteOf(counts)
  const indexes = new Map([...counts.keys()].map((colour) => [colour, nearest(colour, palette)]))
  const rows = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      // Each row begins with its filter, which is none.
      rows[y * (width + 1) + x + 1] = indexes.get(colourAt(points, y * width + x))
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // Eight bits, with a palette.
  header.set([8, 3, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flatMap(parts))),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0))
  ])
}

const colourAt = (points, at) => (points[4 * at] << 16) | (points[4 * at + 1] << 8) | points[4 * at + 2]

const parts = (colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]

function countsOf(points) {
  const counts = new Map()
  for (let at = 0; at < points.length / 4; at++) {
    const colour = colourAt(points, at)
    counts.set(colour, (counts.get(colour) ?? 0) + 1)
  }
  return counts
}

const distance = (one, other) => {
  const others = parts(other)
  return parts(one).reduce((sum, part, at) => sum + (part - others[at]) ** 2, 0)
}

/** The most frequent colour, and then again and again the one that most points miss most. */
function paletteOf(counts) {
  const missed = new Map([...counts.keys()].map((colour) => [colour, Number.POSITIVE_INFINITY]))
  const weight = (colour) => counts.get(colour) * Math.min(missed.get(colour), 3 * 255 ** 2)
  const palette = []
  while (palette.length < Math.min(COLOURS_MAX, counts.size)) {
    const next = [...counts.keys()].reduce((best, colour) => (weight(colour) > weight(best) ? colour : best))
    palette.push(next)
    for (const [colour, least] of missed) missed.set(colour, Math.min(least, distance(colour, next)))
  }
  return palette
}

/** @returns the index of the colour that differs least. */
const nearest = (colour, palette) =>
  palette.reduce((best, one, index) => (distance(colour, one) < distance(colour, palette[best]) ? index : best), 0)

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const around = Buffer.alloc(8)
  around.writeUInt32BE(data.length, 0)
  around.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)])
}
