/** The most shots that one job can have. */
export const SHOTS_MAX = 100_000
