// The result of a job in both forms of the sampler: plain JSON, and the one that Qiskit's RuntimeDecoder reads.
import { deflateSync } from 'node:zlib'
import { isoTime } from '../clock.js'
import type { Job } from './job.js'
import { type Samples, samplesOf } from './samples.js'

/** Of a job that has completed. */
export function resultBody(job: Job, startedAt: number, endedAt: number): string {
  const found = job.pubs.map((pub, index) => samplesOf(pub, { seed: job.seed + index, noise: job.noise }))
  const isForQiskit = job.body.params.support_qiskit ?? true
  return JSON.stringify(isForQiskit ? qiskitResult(job, found, startedAt, endedAt) : plainResult(found))
}

const plainResult = (found: readonly Samples[][]) => ({
  results: found.map((registers) => ({
    data: Object.fromEntries(
      registers.map(({ name, bits, values }) => [
        name,
        { samples: values.map((value) => `0x${value.toString(16)}`), num_bits: bits }
      ])
    ),
    metadata: {}
  })),
  metadata: {}
})

const typed = (type: string, value: unknown) => ({ __type__: type, __value__: value })

function qiskitResult({ pubs }: Job, found: readonly Samples[][], startedAt: number, endedAt: number) {
  const slices = pubs.map(({ shots }, index) => [index, [[shots], 0, 1, 0, shots]])
  const span = typed('DoubleSliceSpan', {
    start: typed('datetime', isoTime(startedAt)),
    stop: typed('datetime', isoTime(endedAt)),
    data_slices: Object.fromEntries(slices)
  })
  return typed('PrimitiveResult', {
    pub_results: found.map((registers) =>
      typed('SamplerPubResult', {
        data: typed('DataBin', {
          field_names: registers.map(({ name }) => name),
          field_types: registers.map(() => "<class 'qiskit.primitives.containers.bit_array.BitArray'>"),
          shape: [],
          fields: Object.fromEntries(registers.map((register) => [register.name, bitArray(register)]))
        }),
        metadata: { circuit_metadata: {} }
      })
    ),
    metadata: { execution: { execution_spans: typed('ExecutionSpans', { spans: [span] }) }, version: 2 }
  })
}

function bitArray({ bits, values }: Samples) {
  const width = Math.ceil(bits / 8)
  const rows = Buffer.alloc(values.length * width)
  for (const [shot, value] of values.entries()) {
    let rest = value
    // The last byte of a row has bits 0 to 7.
    for (let byte = width - 1; byte >= 0; byte--) {
      rows[shot * width + byte] = Number(rest & 0xffn)
      rest >>= 8n
    }
  }
  const array = deflateSync(npy(rows, [values.length, width])).toString('base64')
  return typed('BitArray', { array: typed('ndarray', array), num_bits: bits })
}

/** The file format of NumPy 1.0, for bytes. */
function npy(data: Buffer, [rows, columns]: readonly [rows: number, columns: number]): Buffer {
  const magic = Buffer.from('\x93NUMPY\x01\x00', 'latin1')
  const header = `{'descr': '|u1', 'fortran_order': False, 'shape': (${rows}, ${columns}), }`
  const preamble = magic.length + 2
  // The data begin at a multiple of 64 bytes, and the header ends with a new line.
  const length = Math.ceil((preamble + header.length + 1) / 64) * 64 - preamble
  const size = Buffer.alloc(2)
  size.writeUInt16LE(length)
  return Buffer.concat([magic, size, Buffer.from(`${header.padEnd(length - 1)}\n`, 'latin1'), data])
}
