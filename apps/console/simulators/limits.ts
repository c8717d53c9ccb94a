// What the simulators of the browser take. The API states the first two to other clients.

/** From this width on, a run says before it starts how long it takes and what it needs. */
export const WARN_FROM_QUBITS = 17

/** Wider circuits are refused; the server runs them. */
export const QUBITS_MAX = 20

/** The widest state whose amplitudes are part of a result. */
export const AMPLITUDE_QUBITS_MAX = 10

/** The most outcomes whose exact probabilities are part of a result. */
export const PROBABILITIES_MAX = 4096

export const SHOTS_MAX = 100_000

/** Bytes that a run may need. */
export const MEMORY_MAX = 256 * 1024 * 1024

/** The longest run that is started. */
export const SECONDS_MAX = 600

/** Estimates are for a machine so many times slower than the one that the simulators were measured on. */
export const SLOWER_MACHINE = 3
