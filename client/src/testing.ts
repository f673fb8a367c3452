import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Payments } from './client.ts'
import { pause } from './transport.ts'

/** A new account with money. Its key pays new beneficiaries without approval. Its wallet signs in and approves. */
export type TestAccount = { accountId: string; apiKey: string; walletPrivateKey: `0x${string}`; client: Payments }

/** A fault of the emulated provider: `effect` as in the sandbox guide, for the next `times` requests. */
export type Rule = { effect: string; rail?: string; party?: string; times?: number | null; delay_ms?: number }

type Facts = { account_id: string; api_key: string; wallet_private_key: `0x${string}` }
type Ready = Facts & { url: string; control_url: string; control_token: string | null }
type Place = { url: string; controlUrl: string; controlToken?: string | undefined }

const accountOf = (url: string, { account_id, api_key, wallet_private_key }: Facts): TestAccount => ({
  accountId: account_id,
  apiKey: api_key,
  walletPrivateKey: wallet_private_key,
  client: new Payments({ baseUrl: url, apiKey: api_key }),
})

const controlOf = ({ url, controlUrl, controlToken }: Place) => {
  const call = async <T>(path: string, body?: object): Promise<T> => {
    const answer = await fetch(controlUrl + path, {
      method: 'POST',
      headers: {
        ...(body && { 'content-type': 'application/json' }),
        ...(controlToken !== undefined && { authorization: `Bearer ${controlToken}` }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`The sandbox answered ${answer.status} to ${path}: ${text}`)
    return (text === '' ? undefined : JSON.parse(text)) as T
  }
  const timeOf = async (body: object) => new Date((await call<{ now: string }>('/clock', body)).now)
  return {
    url,
    controlUrl,
    /** Creates an account. A test with its own account does not affect other tests. */
    newAccount: async (): Promise<TestAccount> => accountOf(url, await call<Facts>('/accounts')),
    /** Advances the clock of the service and its providers, and runs all work that is then due. */
    advance: (seconds: number): Promise<Date> => timeOf({ advance_seconds: seconds }),
    /** Sets the same clock to a future time. */
    setTime: (now: Date): Promise<Date> => timeOf({ now: now.toISOString() }),
    addRule: (rule: Rule): Promise<{ id: string }> => call('/control/rules', rule),
    /** Sets the holder's name for a phone number, paybill, till or account. `null` removes the holder. */
    setName: (party: string, name: string | null): Promise<void> => call('/control/names', { party, name }),
    /** Pays in with the account number from a top-up's instructions. */
    payIn: (reference: string, amount_minor: string): Promise<void> => call('/control/deposits', { reference, amount_minor }),
    /** Removes rules and names. Accounts, money and time are unchanged. */
    reset: (): Promise<void> => call('/control/reset'),
  }
}

export type TestPayments = ReturnType<typeof controlOf> & TestAccount & { stop: () => Promise<void> }

const nothing = async (): Promise<void> => undefined

/** Connects to a running service, such as a container in the same CI job. */
const connect = async (place: Place): Promise<TestPayments> => {
  const control = controlOf(place)
  return { ...control, ...(await control.newAccount()), stop: nothing }
}

/** Variables that the service inherits. Others are excluded, so that it can never use your database. */
const passed = ['PATH', 'HOME', 'TMPDIR', 'LD_LIBRARY_PATH', 'SystemRoot']

/** Signals the whole process group, because `npm` does not always forward signals. */
const endGroup = async (child: ChildProcess): Promise<void> => {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'close')
  process.kill(-child.pid, 'SIGTERM')
  await closed
}

const readyFacts = async (file: string, child: ChildProcess, said: () => string, timeoutMs: number): Promise<Ready> => {
  for (const end = performance.now() + timeoutMs; performance.now() < end; await pause(100, undefined)) {
    const text = await readFile(file, 'utf8').catch(() => undefined)
    if (text !== undefined) return JSON.parse(text) as Ready
    if (child.exitCode !== null) throw new Error(`The service ended with ${child.exitCode}:\n${said()}`)
  }
  throw new Error(`The service was not ready within ${timeoutMs / 1000} s:\n${said()}`)
}

export type StartOptions = {
  /** The service's folder, after `npm ci`. Default: PAYMENTS_SERVICE_DIR. */
  directory?: string
  /** Settings of the service. */
  env?: Record<string, string>
  /** Default: five minutes. The first start runs a build, which takes minutes on a busy machine. */
  timeoutMs?: number
}

const start = async (directory: string, { env = {}, timeoutMs = 300_000 }: StartOptions): Promise<TestPayments> => {
  const folder = await mkdtemp(join(tmpdir(), 'payments-'))
  const file = join(folder, 'ready.json')
  const own = Object.fromEntries(passed.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])))
  const fixed = { DATABASE_URL: '', RAILS: 'sandbox', PORT: '0', OPERATOR_PORT: '0', SANDBOX_DELAY_MS: '50', LOG_LEVEL: 'warn' }
  const child = spawn('npm', ['start', '--silent', '--', '--ready-file', file], {
    cwd: directory,
    detached: true,
    env: { ...own, ...fixed, DATA_DIR: join(folder, 'data'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-10_000)
    })
  const onExit = () => void (child.exitCode === null && child.pid !== undefined && process.kill(-child.pid, 'SIGTERM'))
  process.once('exit', onExit)
  const stop = async () => {
    process.off('exit', onExit)
    await endGroup(child)
    await rm(folder, { recursive: true, force: true })
  }
  const failed = new Promise<never>((_, reject) => child.once('error', reject))
  try {
    const facts = await Promise.race([failed, readyFacts(file, child, () => output, timeoutMs)])
    const { url, control_url: controlUrl, control_token } = facts
    return { ...controlOf({ url, controlUrl, controlToken: control_token ?? undefined }), ...accountOf(url, facts), stop }
  } catch (error) {
    await stop().catch(nothing)
    throw error
  }
}

/**
 * Starts a service from `directory` with simulated providers, free ports, new data and one account. `stop` ends it. Without a
 * directory, uses the running service at PAYMENTS_URL and PAYMENTS_CONTROL_URL (with PAYMENTS_CONTROL_TOKEN).
 */
export const startPayments = async (options: StartOptions = {}): Promise<TestPayments> => {
  const { PAYMENTS_URL: url, PAYMENTS_CONTROL_URL: controlUrl, PAYMENTS_CONTROL_TOKEN: controlToken } = process.env
  const directory = options.directory ?? process.env.PAYMENTS_SERVICE_DIR
  if (directory !== undefined) return start(directory, options)
  if (url && controlUrl) return connect({ url, controlUrl, controlToken })
  throw new Error('Set PAYMENTS_SERVICE_DIR, or PAYMENTS_URL and PAYMENTS_CONTROL_URL of a running service.')
}
