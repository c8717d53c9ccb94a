// Certificates for tests of TLS: an authority, and what it signs.
import forge from 'node-forge'

const { pki } = forge

export interface Authority {
  /** Its certificate, in PEM. */
  ca: string
  /** @param names of hosts, and addresses. */
  sign(names: readonly string[]): { cert: string; key: string }
}

export function createAuthority(name: string): Authority {
  const keys = pki.rsa.generateKeyPair(2_048)
  const subject = [{ name: 'commonName', value: name }]
  const certificate = (publicKey: forge.pki.PublicKey, of: forge.pki.CertificateField[], extensions: object[]) => {
    const made = pki.createCertificate()
    made.publicKey = publicKey
    made.serialNumber = `01${forge.util.bytesToHex(forge.random.getBytesSync(8))}`
    made.validity.notBefore = new Date(Date.now() - 86_400_000)
    made.validity.notAfter = new Date(Date.now() + 86_400_000)
    made.setSubject(of)
    made.setIssuer(subject)
    made.setExtensions(extensions)
    made.sign(keys.privateKey, forge.md.sha256.create())
    return pki.certificateToPem(made)
  }
  return {
    ca: certificate(keys.publicKey, subject, [{ name: 'basicConstraints', cA: true }]),
    sign(names) {
      const own = pki.rsa.generateKeyPair(2_048)
      const altNames = names.map((one) => (/^[\d.]+$/.test(one) ? { type: 7, ip: one } : { type: 2, value: one }))
      const cert = certificate(
        own.publicKey,
        [{ name: 'commonName', value: names[0]! }],
        [{ name: 'subjectAltName', altNames }]
      )
      return { cert, key: pki.privateKeyToPem(own.privateKey) }
    }
  }
}
