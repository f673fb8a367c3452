import { isLoopbackUrl } from '../../lib/loopback.ts'

/** The hosts of push services, `*.` before one for all below it; `loopback`: addresses of this machine too. */
export type PushHosts = { hosts: readonly string[]; loopback: boolean }

const isAt = (host: string, pattern: string): boolean =>
  pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern

/** Why an address is not called. Undefined: it is one of a push service. */
export const endpointProblem = (endpoint: string, { hosts, loopback }: PushHosts): string | undefined => {
  if (!/^https?:\/\//i.test(endpoint) || !URL.canParse(endpoint)) return 'must be the https address of a push service'
  const url = new URL(endpoint)
  if (url.username !== '' || url.password !== '') return 'must have no user'
  if (loopback && isLoopbackUrl(endpoint)) return undefined
  if (url.protocol !== 'https:' || url.port !== '') return 'must be an https address on the usual port'
  if (!hosts.some((pattern) => isAt(url.hostname, pattern))) return 'must be at one of the push services that are called here'
  return undefined
}
