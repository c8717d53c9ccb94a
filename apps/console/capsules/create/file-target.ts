// Where a file is sent, by its name.

interface FileTarget {
  path: string
  contentType: string
}

/** YAML and JSON are the text of a capsule; everything else is taken for a package. */
export const targetOf = (fileName: string): FileTarget =>
  /\.(ya?ml|json)$/i.test(fileName)
    ? { path: '/api/capsules/upload', contentType: 'application/yaml' }
    : { path: '/api/capsules/import', contentType: 'application/octet-stream' }
