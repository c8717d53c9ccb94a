// How many jobs of one browser have a stream of their own at a time. With that of the teams they leave two of the six
// connections that a browser has for one service to requests.
const SLOTS = 3

/** @returns gives the slot back; `null` where all are taken. */
export async function takeStreamSlot(): Promise<(() => void) | null> {
  // Without locks the tabs of a browser know nothing of each other.
  if (!navigator.locks) return () => {}
  for (let slot = 0; slot < SLOTS; slot++) {
    const release = await takeLock(`stream of a job ${slot}`)
    if (release) return release
  }
  return null
}

const takeLock = (name: string): Promise<(() => void) | null> =>
  new Promise((resolve, reject) => {
    navigator.locks
      .request(name, { ifAvailable: true }, (lock) => {
        if (lock === null) return resolve(null)
        return new Promise<void>((release) => resolve(release))
      })
      .catch(reject)
  })
