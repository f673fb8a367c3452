import { hostname } from 'node:os'
import { parseArgs } from 'node:util'
import { discover, isRefusedAs, loginByDevice, registerDeviceClient, revokeToken } from '../oauth.ts'
import { batch } from './batch.ts'
import { completionFor } from './completion.ts'
import { forward } from './forward.ts'
import { readInput } from './input.ts'
import { approvals, balance, paymentsList, policies, refusals } from './lists.ts'
import { readLog } from './logs.ts'
import { deposit, topUp } from './money-commands.ts'
import { pay, simulate } from './pay.ts'
import { payees } from './payees.ts'
import { cancel, keys, payment, statement } from './records.ts'
import { clientOf, loginFor, urlForLogin } from './session.ts'
import { forgetLogin, type Login, loginFile, readLogin, withLock, writeLogin } from './store.ts'
import { flag, json, type Terminal, text } from './terminal.ts'

type Verifier = {
  run: (
    args: readonly string[],
    terminal: { say: (line: string) => void; read: (path: string) => Promise<Uint8Array> },
  ) => Promise<number>
}

/** Scopes that the commands need. The person decides which of them to grant. */
const neededScopes =
  'account.read workspace.read beneficiary.read beneficiary.manage policy.read payment.read payment.create approval.read mandate.read topup.read topup.create'

/** The refresh token is known for as long as the access exists, an access token only for a day. */
const revokeLogin = async ({ baseUrl, clientId, tokens }: Login): Promise<void> => {
  await revokeToken(await discover(baseUrl), clientId, tokens.refreshToken ?? tokens.accessToken).catch((error: unknown) => {
    // The service has removed the client, and its access with it.
    if (!isRefusedAs(error, 'invalid_client')) throw error
  })
}

const login = async (terminal: Terminal): Promise<void> => {
  const { values } = parseArgs({ args: [...terminal.args], options: { url: text, scope: text } })
  const file = loginFile(terminal.env)
  const before = await readLogin(file)
  const baseUrl = urlForLogin(terminal, values.url, before)
  const metadata = await discover(baseUrl)
  const loginAs = async (clientId: string): Promise<Login> => {
    const tokens = await loginByDevice({
      metadata,
      clientId,
      scope: values.scope ?? neededScopes,
      signal: terminal.signal,
      show: ({ userCode, verificationUriComplete }) =>
        terminal.say(`Open ${verificationUriComplete}\nand compare the code: ${userCode}`),
    })
    return { baseUrl, clientId, tokens }
  }
  const loginAsNew = async () => loginAs(await registerDeviceClient(metadata, `Command line on ${hostname()}`))
  const made =
    before?.baseUrl === baseUrl
      ? await loginAs(before.clientId).catch((error: unknown) => {
          // The service removes clients that are not used.
          if (isRefusedAs(error, 'invalid_client')) return loginAsNew()
          throw error
        })
      : await loginAsNew()
  const replaced = await withLock(file, async () => {
    const stored = await readLogin(file)
    await writeLogin(file, made)
    return stored
  })
  terminal.say(`Logged in to ${baseUrl} with: ${made.tokens.scope}`)
  if (terminal.env.PAYMENTS_API_KEY) terminal.say('PAYMENTS_API_KEY is set: commands use that key, not this login.')
  // Not revoked: that would cancel the payments that wait under the earlier access, and end the keys made with it.
  if (replaced) terminal.say(`The access of the earlier login lasts. Revoke it at ${replaced.baseUrl} if nothing waits under it.`)
}

const logout = async (terminal: Terminal): Promise<void> => {
  const { values } = parseArgs({ args: [...terminal.args], options: { url: text } })
  const file = loginFile(terminal.env)
  // Another command may be refreshing the tokens.
  const known = await withLock(file, async () => {
    const stored = await loginFor(terminal, values.url)
    if (stored) await revokeLogin(stored)
    await forgetLogin(file)
    return stored
  })
  terminal.say(known ? 'Logged out: the access is revoked.' : 'There was no login.')
}

const whoami = async (terminal: Terminal): Promise<void> => {
  const { values } = parseArgs({ args: [...terminal.args], options: { url: text } })
  const client = await clientOf(terminal, values.url)
  terminal.out(json(await client.credentials.current()))
}

const events = async (terminal: Terminal): Promise<void> => {
  const { values } = parseArgs({ args: [...terminal.args], options: { url: text, follow: flag, after: text } })
  const client = await clientOf(terminal, values.url)
  if (!values.follow) {
    const { after } = values
    const { data } = await client.notifications.list(after === undefined ? {} : { after }).page()
    // Everything after an event, but only the newest ones without it.
    const listed = after === undefined ? data : client.notifications.list({ after })
    for await (const event of listed) terminal.out(JSON.stringify(event))
    return
  }
  const onReconnect = () => terminal.say('connection lost: reconnecting')
  const from = values.after === undefined ? {} : { lastEventId: values.after }
  const following = client.events({ ...from, signal: terminal.signal, onOpen: () => terminal.say('listening'), onReconnect })
  for await (const event of following) terminal.out(JSON.stringify(event))
}

const logs = async (terminal: Terminal): Promise<void> => {
  const { values } = parseArgs({ args: [...terminal.args], options: { url: text, follow: flag, status: text, grant: text } })
  const { status, grant: grant_id, follow = false } = values
  const { signal, say } = terminal
  const filters = { ...(status !== undefined && { status }), ...(grant_id !== undefined && { grant_id }) }
  for await (const line of readLog(await clientOf(terminal, values.url), filters, {
    follow,
    signal,
    onOpen: () => say('listening'),
  }))
    terminal.out(line)
}

/** The build places the verifier beside the command line. The sources do not contain that file. */
const verifyReceipt = async (terminal: Terminal): Promise<void> => {
  const place = new URL('../verify-receipt.mjs', import.meta.url).href
  const verifier: Verifier = await import(place)
  process.exitCode = await verifier.run(terminal.args, { say: terminal.out, read: async (path) => readInput(path) })
}

export type Command = { arguments: string; summary: string; run: (terminal: Terminal) => Promise<void> }

const list = '[--limit 25] [--json]'

/** In the order in which the usage lists them. */
export const commands: Readonly<Record<string, Command>> = {
  login: {
    arguments: '[--url URL] [--scope "payment.create payment.read …"]',
    summary:
      'Authorizes this machine in a browser, where you choose its limits. The access of an earlier login lasts until you revoke it.',
    run: login,
  },
  logout: { arguments: '', summary: 'Revokes the access of this machine.', run: logout },
  whoami: { arguments: '', summary: 'Shows the permissions and the remaining limits of this credential.', run: whoami },
  balance: { arguments: '[--json]', summary: 'Shows the available and held amounts.', run: balance },
  payees: {
    arguments: `[add|verify|confirm|archive] [--name TEXT] [--made-by GRANT] [--proposed] [--all] ${list}`,
    summary: `Lists payees: id, name, mask, the registered name, and creator.
  payments payees add NAME NUMBER [--rail RAIL] [--bank CODE] [--account TEXT] [--legal-name TEXT] [--type TEXT] [--key IDEMPOTENCY_KEY]
    RAIL: a payment_rail of the API. Default: MPESA_B2C, or PESALINK with --bank
  payments payees verify|archive|confirm PAYEE…, or --made-by GRANT for all payees created by a key or an agent (only people confirm)`,
    run: payees,
  },
  simulate: {
    arguments: 'PAYEE AMOUNT [--reference TEXT] [--at TIME]',
    summary: 'Shows the decision about such a payment, and the reason. Moves no money.',
    run: simulate,
  },
  pay: {
    arguments:
      'PAYEE AMOUNT [--reference TEXT] [--narrative TEXT] [--purpose CODE] [--at TIME] [--key IDEMPOTENCY_KEY] [--again] [--wait]',
    summary:
      'Pays. PAYEE: a name or an id. A payment that looks like an earlier one needs your confirmation, or --again. With --at it is decided and sent at that time: 2026-12-01, "2026-12-01 09:00" (in the workspace\'s time zone) or 2026-12-01T09:00:00+03:00, at most 90 days ahead. CODE: an ISO 20022 purpose code such as SALA.',
    run: pay,
  },
  batch: {
    arguments:
      'LIST.csv [--dry-run] [--name TEXT] [--at TIME] [--period TEXT] [--duplicates-intended] [--charset CHARSET] [--key IDEMPOTENCY_KEY] [--wait] [--watch] [--json]',
    summary:
      'Pays a CSV batch with one approval, and shows its rows as a table. --dry-run only validates it; --watch shows its progress. The same batch is paid once per period (--period 2026-03; default: today): if repeated, the command shows its current state and exits with 3. --at TIME works as for pay.',
    run: batch,
  },
  payments: { arguments: `[--status STATUS] [--purpose CODE] ${list}`, summary: 'Lists the newest payments.', run: paymentsList },
  payment: {
    arguments: '(PAYMENT | --key IDEMPOTENCY_KEY) [--wait] [--json]',
    summary: 'Shows one payment, by its id or its idempotency key.',
    run: payment,
  },
  cancel: {
    arguments: '(PAYMENT | BATCH) [--wait] [--json]',
    summary:
      'Cancels a payment or batch that waits for its approval or its time. With --wait, waits for a payment that is already being sent, and then exits with 1.',
    run: cancel,
  },
  statement: {
    arguments: '[--from DATE] [--to DATE] [--csv] [--json]',
    summary: 'Lists booked entries between two dates, inclusive. Default: this month.',
    run: statement,
  },
  refusals: { arguments: list, summary: 'Lists refused payment requests, and the reasons.', run: refusals },
  approvals: {
    arguments: `[--status STATUS] ${list}`,
    summary: 'Lists pending approvals, with the address of each decision page.',
    run: approvals,
  },
  policies: { arguments: `[--status STATUS] ${list}`, summary: 'Lists the rules of the workspace.', run: policies },
  'top-up': {
    arguments: 'AMOUNT PHONE [--key IDEMPOTENCY_KEY] [--wait]',
    summary: 'Sends an M-PESA prompt to a phone.',
    run: topUp,
  },
  deposit: { arguments: '[--by paybill|bank] [--wait]', summary: 'Shows where to pay in money.', run: deposit },
  events: { arguments: '[--follow] [--after EVENT]', summary: 'Prints events, one JSON object per line.', run: events },
  logs: {
    arguments: '[--follow] [--status 4xx] [--grant GRANT]',
    summary: 'Lists requests of the last seven days that were rejected, failed or changed something.',
    run: logs,
  },
  listen: {
    arguments:
      "--forward URL [--state FILE] [--events 'payment.*,topup.succeeded'] [--secret whsec_…] [--tries 10] [--undelivered FILE] [--replay] [--health [HOST:]PORT]",
    summary: `Posts every event to an address, signed as Standard Webhooks, in order for each resource. An event that is rejected --tries times goes to the file of undelivered events (FILE.undelivered of --state), which --replay sends again. If the program is unreachable, the command waits for it. --health serves /healthz and /metrics.
  Exits with 0 when it is stopped or everything was replayed, 1 if the credential has ended, 4 if a replay left events undelivered.`,
    run: forward,
  },
  keys: {
    arguments: '[revoke|rotate KEY] [--overlap SECONDS] [--limit 25] [--json]',
    summary:
      'Lists API keys. "keys revoke KEY" revokes one at once; "keys rotate KEY" replaces one, and prints the new key once.',
    run: keys,
  },
  'verify-receipt': {
    arguments: 'RECEIPT.json (--issuer URL | --jwks KEYS.json) [--rpc 1=URL]',
    summary: 'Verifies a receipt without trusting the service.',
    run: verifyReceipt,
  },
  completion: {
    arguments: '(bash | zsh | fish)',
    summary: 'Completes commands and options in a shell: source <(payments completion bash)',
    run: async ({ args, out }) => {
      const { positionals } = parseArgs({ args: [...args], allowPositionals: true, options: {} })
      out(completionFor(positionals.length === 1 ? positionals[0] : undefined, commands))
    },
  },
}

const lineOf = ([name, { arguments: args }]: [string, Command]): string => `  payments ${name} ${args}`.trimEnd()

export const usage = `payments: the payments service on the command line

${Object.entries(commands).map(lineOf).join('\n')}
  payments --version

Write amounts with cents: 250.00. Each command has --help and --url. PAYMENTS_API_KEY replaces the login.
PAYMENTS_URL names the service, like --url. A login works only at its own service.`

export const helpOf = (name: string, command: Command): string => `${lineOf([name, command]).trim()}\n\n${command.summary}`
