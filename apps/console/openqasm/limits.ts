// How much of a program the reader takes. All of it is read in the page's own process, so each bound is one of time.

/** Characters of a program. */
export const TEXT_LENGTH_MAX = 1024 * 1024

/** Qubits of a circuit that is read; the simulators have bounds of their own. */
export const READ_QUBITS_MAX = 1000

/** Classical bits that a program may declare; the server's limit. */
export const CLBITS_MAX = 4096

/** Bits that a count's key may show; the server's limit. */
export const COUNTED_BITS_MAX = 256

/** Operations of a circuit once its gate definitions and loops are written out. */
export const OPERATIONS_MAX = 200_000

/** Statements of one loop, written out; the server's limit. */
export const UNROLLED_STATEMENTS_MAX = 100_000

/** Steps of the reader: statements executed and operations made, those of definitions included. */
export const STEPS_MAX = 1_000_000

/** How deep expressions and blocks may be nested. */
export const NESTING_MAX = 100
