// The protocol by which the public client submits native programs: a source, and which of its functions is called with what.

export const programmingModels = ['native_workflow', 'single_task'] as const
export type ProgrammingModel = (typeof programmingModels)[number]
