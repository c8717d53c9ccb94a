// What a caller is told about a script before it runs.

export interface AnalysisCheck {
  id: string
  level: 'info' | 'warning' | 'error'
  message: string
  line?: number
}
