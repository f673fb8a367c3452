import { Socket } from 'node:net'

// The hosts that this process connects to. A library may open connections of its own, and swallow a refusal's error: so every
// refusal is recorded too, and fails its test (`setup.ts`). Connections of `fetch`, `http`, `tls` and `pg` all begin here.

type Port = string | number
type Target = { path?: string; host?: string; port?: Port; lookup?: unknown }

type Guard = { refused: string[]; ports: ReadonlySet<number> | null; isInstalled?: true }
// One guard for all files of a worker: modules are loaded once, but a setup file runs for each.
const guard: Guard = { refused: [], ports: null }

const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d+){3}|::1|\[::1\]|0\.0\.0\.0|)$/.test(host)

/** Why the service's configuration does not allow a connection. Undefined for an allowed one. */
const faultOf = ({ path, host = '', port, lookup }: Target): string | undefined => {
  if (path) return undefined
  // A connection with its own lookup: the guarded fetcher of clients' documents has checked the returned addresses.
  const known = lookup !== undefined || isLoopback(host)
  return known && (lookup !== undefined || guard.ports === null || guard.ports.has(Number(port))) ? undefined : `${host}:${port}`
}

/** Reads the argument forms of `Socket.connect`; `net.connect` has already made an array of them. */
const targetOf = (given: unknown): Target => {
  const [first, second] = Array.isArray(given) ? (Array.isArray(given[0]) ? given[0] : given) : [given]
  if (typeof first === 'object' && first !== null) return first
  return typeof first === 'string' && Number.isNaN(Number(first))
    ? { path: first }
    : { port: Number(first), host: typeof second === 'string' ? second : '' }
}

export const watchConnections = (): void => {
  if (guard.isInstalled) return
  guard.isInstalled = true
  const connect = Socket.prototype.connect
  Socket.prototype.connect = function (this: Socket, ...given: unknown[]) {
    const fault = faultOf(targetOf(given))
    if (fault === undefined) return Reflect.apply(connect, this, given)
    guard.refused.push(fault)
    process.nextTick(() => this.destroy(new Error(`a connection to ${fault}, which is not configured, was refused`)))
    return this
  } as Socket['connect']
}

/** The refused hosts since the last call. */
export const takeRefused = (): string[] => guard.refused.splice(0)

/** Until the next call, only these ports of this machine are allowed. */
export const connectOnlyTo = (ports: readonly number[] | null): void => {
  guard.ports = ports && new Set(ports)
}
