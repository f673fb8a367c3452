import { Socket } from 'node:net'
import pg from 'pg'
import { type DatabaseServer, parseDatabaseAddress, type SessionAttribute } from '../lib/database-address.ts'

/*
 * A connection to the first of several servers that is what the address wants, as libpq chooses one (`target_session_attrs`). The states of
 * one attempt: dialling → authenticating → reported (PostgreSQL tells `in_hot_standby` and `default_transaction_read_only` of itself) → ready.
 * Before ready, a server that does not answer, that is starting, or that is not wanted is given up and the next one is dialled; the client
 * notices nothing, as it starts again with each dialled connection. After ready this is pg's own connection.
 */

/**
 * For this time a server that could not be used is tried after the others, and one that did not answer last of all: it costs each connection
 * its time to answer, a standby only a round trip. So a standby that was promoted is found before a machine that hangs is waited for again.
 */
const avoidMs = 30_000
type Failure = { at: number; isSilent: boolean }
const failures = new Map<string, Failure>()

/** Shutting down, crashed, starting: another server may serve. A refused password or a missing database are the same everywhere. */
const isAway = (state: unknown): boolean => typeof state === 'string' && /^57P0[1-4]$/.test(state)

/** No server is what the address wants. `code` is that of a server that takes no writes, if there was one. */
class NoServerError extends Error {
  override name = 'NoServerError'
  readonly code: string | undefined
  constructor(reasons: ReadonlyMap<string, string>, code: string | undefined) {
    super(`no server can be used: ${[...reasons].map(([name, reason]) => `${name}: ${reason}`).join('; ')}`)
    this.code = code
  }
}

/** What PostgreSQL tells of itself before it is ready, by the names of its settings. */
type Reported = Readonly<Record<string, string>>

const reportedBy = (message: unknown): Reported => {
  if (typeof message !== 'object' || message === null) return {}
  const { parameterName, parameterValue } = { parameterName: undefined, parameterValue: undefined, ...message }
  return typeof parameterName === 'string' && typeof parameterValue === 'string' ? { [parameterName]: parameterValue } : {}
}

/** Why a server is not wanted; undefined for one that is. */
const refusal = (wanted: SessionAttribute, { in_hot_standby, default_transaction_read_only }: Reported): string | undefined => {
  if (wanted === 'any') return undefined
  if (in_hot_standby === undefined) return 'does not report whether it takes writes (a pooler does not)'
  if (in_hot_standby === 'on') return 'is a standby'
  return wanted === 'read-write' && default_transaction_read_only === 'on' ? 'is read-only' : undefined
}

/** Those that failed lately come last; else the order of the address. */
const inTurn = (servers: readonly DatabaseServer[]): DatabaseServer[] => {
  const now = performance.now()
  const rank = ({ name }: DatabaseServer): number => {
    const failure = failures.get(name)
    if (!failure || now - failure.at >= avoidMs) return 0
    return failure.isSilent ? 2 : 1
  }
  return servers.toSorted((one, other) => rank(one) - rank(other))
}

const codeOf = (error: unknown): string | undefined => {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

declare module 'pg' {
  // Of pg's connection, what its types leave out.
  interface Connection {
    connect(port: number, host: string): void
    sslNegotiation: unknown
    /** The client was told to end, or its time to connect has passed. */
    _ending: boolean
  }
}

class ConnectionToOne extends pg.Connection {
  declare stream: Socket
  readonly #left: DatabaseServer[]
  readonly #wanted: SessionAttribute
  readonly #eachMs: number
  readonly #reasons = new Map<string, string>()
  #code: string | undefined
  #server: DatabaseServer | undefined
  /** Below TLS there is the socket that was dialled. */
  #dialled: Socket
  #reported: Reported = {}
  #isSettled = false
  #timer: NodeJS.Timeout | undefined

  constructor(config: pg.ConnectionConfig, servers: readonly DatabaseServer[], wanted: SessionAttribute, eachMs: number) {
    super(config)
    this.#dialled = this.stream
    this.#left = inTurn(servers)
    this.#wanted = wanted
    this.#eachMs = eachMs
  }

  override connect(): void {
    const server = this.#left.shift()
    if (!server) {
      this.#fail()
      return
    }
    if (this.#server) this.#hangUp()
    this.#server = server
    this.#reported = {}
    clearTimeout(this.#timer)
    if (this.#eachMs > 0) this.#timer = setTimeout(() => this.#giveUp('does not answer', 'ETIMEDOUT'), this.#eachMs).unref()
    super.connect(server.port, server.host)
  }

  override emit(event: string, ...values: unknown[]): boolean {
    if (this.#isSettled) return super.emit(event, ...values)
    const [value] = values
    const code = codeOf(value)
    switch (event) {
      case 'parameterStatus':
        this.#reported = { ...this.#reported, ...reportedBy(value) }
        break
      case 'readyForQuery': {
        const reason = refusal(this.#wanted, this.#reported)
        // 25006: what a statement that writes would get there.
        if (reason !== undefined) return this.#giveUp(reason, '25006')
        if (this.#server) failures.delete(this.#server.name)
        this.#settle()
        break
      }
      case 'errorMessage':
        if (isAway(code)) return this.#giveUp('is starting or shutting down', code)
        this.#settle()
        break
      case 'error':
      case 'end':
        if (!this._ending) return this.#giveUp(code ?? 'closed the connection', code ?? 'ECONNRESET')
        this.#settle()
    }
    return super.emit(event, ...values)
  }

  #hangUp(): void {
    for (const socket of new Set([this.stream, this.#dialled])) {
      socket.removeAllListeners()
      socket.on('error', () => undefined)
      socket.destroy()
    }
    this.stream = new Socket()
    this.#dialled = this.stream
  }

  #settle(): void {
    this.#isSettled = true
    clearTimeout(this.#timer)
  }

  #giveUp(reason: string, code: string | undefined): true {
    if (this.#server) {
      failures.set(this.#server.name, { at: performance.now(), isSilent: code === 'ETIMEDOUT' })
      this.#reasons.set(this.#server.name, reason)
    }
    // That a server was found, and takes no writes, says more than that another one is away.
    if (this.#code !== '25006') this.#code = code
    this.connect()
    return true
  }

  #fail(): void {
    this.#settle()
    super.emit('error', new NoServerError(this.#reasons, this.#code))
    // The client waits for the end too. A socket that is still open tells of it by itself.
    if (this.#dialled.closed) process.nextTick(() => super.emit('end'))
    else this.stream.destroy()
  }
}

/** `connect_timeout` of the address, in seconds for each server, as libpq has it; else an equal part of the whole. */
const eachMsOf = (address: string, totalMs: number, count: number): number => {
  const seconds = Number(new URL(address).searchParams.get('connect_timeout') ?? 0)
  return seconds > 0 ? seconds * 1000 : Math.floor(totalMs / count)
}

/**
 * pg's client for an address that may name several servers, and how the one of them must be. Every connection of the service is one: the
 * pool's, those of lookups and of the listener, those of a start, of migrations and of commands.
 */
export class DatabaseClient extends pg.Client {
  declare connection: pg.Connection

  constructor(config: pg.ClientConfig = {}) {
    if (config.connectionString === undefined) throw new Error('a client of the database needs its address')
    const { servers, wanted, single } = parseDatabaseAddress(config.connectionString)
    super({ ...config, connectionString: single })
    const { keepAlive, keepAliveInitialDelayMillis } = config
    const { sslNegotiation } = this.connection
    const options = { ssl: this.ssl, keepAlive, keepAliveInitialDelayMillis }
    const eachMs = eachMsOf(single, config.connectionTimeoutMillis ?? 0, servers.length)
    this.connection =
      servers.length <= 1 && wanted === 'any' ? new pg.Connection(options) : new ConnectionToOne(options, servers, wanted, eachMs)
    this.connection.sslNegotiation = sslNegotiation
  }
}
