// The Pod Security Standards of Kubernetes, as far as they concern Linux:
// https://kubernetes.io/docs/concepts/security/pod-security-standards/. A rule names the field that breaks it.
import type { Container, PodSpec, SecurityContext } from './chart.js'

const BASELINE_CAPABILITIES = [
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT'
]
const RESTRICTED_VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret'
]
const SELINUX_TYPES = ['', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t']

const containersOf = (pod: PodSpec): Container[] => [...pod.containers, ...(pod.initContainers ?? [])]
const onlyIf = (broken: unknown, field: string): string[] => (broken ? [field] : [])

/** The fields of a pod that the baseline profile does not allow. */
export const faultsOfBaseline = (pod: PodSpec): string[] => [
  ...onlyIf(pod.hostNetwork, 'hostNetwork'),
  ...onlyIf(pod.hostPID, 'hostPID'),
  ...onlyIf(pod.hostIPC, 'hostIPC'),
  ...(pod.volumes ?? []).flatMap((volume) => onlyIf('hostPath' in volume, `volumes.${volume.name}.hostPath`)),
  ...onlyIf((pod.securityContext?.sysctls ?? []).length > 0, 'securityContext.sysctls'),
  ...contextBaseline(pod.securityContext, 'securityContext'),
  ...containersOf(pod).flatMap((container) => containerBaseline(container))
]

/** Rules of both contexts, that of the pod and that of a container. */
const contextBaseline = (context: SecurityContext | undefined, at: string): string[] => [
  ...onlyIf(context?.seccompProfile?.type === 'Unconfined', `${at}.seccompProfile`),
  ...onlyIf(context?.appArmorProfile?.type === 'Unconfined', `${at}.appArmorProfile`),
  ...onlyIf(!SELINUX_TYPES.includes(context?.seLinuxOptions?.type ?? ''), `${at}.seLinuxOptions.type`),
  ...onlyIf(context?.seLinuxOptions?.user || context?.seLinuxOptions?.role, `${at}.seLinuxOptions`)
]

function containerBaseline({ name, securityContext: context, ...container }: Container): string[] {
  const at = `${name}.securityContext`
  const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe]
  const hooks = [container.lifecycle?.postStart, container.lifecycle?.preStop]
  return [
    ...contextBaseline(context, at),
    ...onlyIf(context?.privileged, `${at}.privileged`),
    ...onlyIf((context?.procMount ?? 'Default') !== 'Default', `${at}.procMount`),
    ...(context?.capabilities?.add ?? [])
      .filter((capability) => !BASELINE_CAPABILITIES.includes(capability))
      .map((capability) => `${at}.capabilities.add: ${capability}`),
    ...onlyIf(
      container.ports?.some(({ hostPort }) => hostPort),
      `${name}.ports.hostPort`
    ),
    ...onlyIf(
      [...probes, ...hooks].some((probe) => probe?.httpGet?.host || probe?.tcpSocket?.host),
      `${name}: the host of a probe`
    )
  ]
}

/** The fields of a pod that the restricted profile does not allow. */
export const faultsOfRestricted = (pod: PodSpec): string[] => [
  ...faultsOfBaseline(pod),
  ...(pod.volumes ?? []).flatMap(({ name, ...kinds }) =>
    onlyIf(!Object.keys(kinds).every((kind) => RESTRICTED_VOLUMES.includes(kind)), `volumes.${name}`)
  ),
  ...onlyIf(pod.securityContext?.runAsUser === 0, 'securityContext.runAsUser'),
  ...containersOf(pod).flatMap(({ name, securityContext: own }) => {
    const at = `${name}.securityContext`
    const ofPod = pod.securityContext
    const seccomp = own?.seccompProfile ?? ofPod?.seccompProfile
    return [
      ...onlyIf(own?.allowPrivilegeEscalation !== false, `${at}.allowPrivilegeEscalation`),
      ...onlyIf((own?.runAsNonRoot ?? ofPod?.runAsNonRoot) !== true, `${at}.runAsNonRoot`),
      ...onlyIf(own?.runAsUser === 0, `${at}.runAsUser`),
      ...onlyIf(!['RuntimeDefault', 'Localhost'].includes(seccomp?.type ?? ''), `${at}.seccompProfile`),
      ...onlyIf(!own?.capabilities?.drop?.includes('ALL'), `${at}.capabilities.drop`),
      ...onlyIf(
        own?.capabilities?.add?.some((capability) => capability !== 'NET_BIND_SERVICE'),
        `${at}.capabilities.add`
      )
    ]
  })
]
