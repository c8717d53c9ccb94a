// What the service calls itself. `package.json` carries the same version; the tidy test compares them.
export const SERVICE_NAME = 'quantum-job-service'
export const SERVICE_VERSION = '0.2.0'
export const API_VERSION = '1'
