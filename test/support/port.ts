import { connect } from 'node:net'

/** Rejects unless something on this machine accepts connections at the port. */
export const accepts = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve()
    }).on('error', reject)
  })
