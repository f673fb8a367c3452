import { hostname } from 'node:os'
import { parseArgs } from 'node:util'
import { discover, loginByDevice, registerDeviceClient, revokeToken } from '../oauth.ts'
import { batch } from './batch.ts'
import { completionFor } from './completion.ts'
import { forward } from './forward.ts'
import { approvals, balance, paymentsList, policies, refusals } from './lists.ts'
import { readLog } from './logs.ts'
import { deposit, topUp } from './money-commands.ts'
import { pay, simulate } from './pay.ts'
import { payees } from './payees.ts'
import { cancel, keys, payment, statement } from './records.ts'
import { clientOf, defaultUrl } from './session.ts'
import { forgetLogin, loginFile, readLogin, writeLogin } from './store.ts'
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

const login = async (terminal: Terminal): Promise<void> => {
  const { values } = parseArgs({ args: [...terminal.args], options: { url: text, scope: text } })
  const file = loginFile(terminal.env)
  const before = await readLogin(file)
  const baseUrl = (values.url ?? terminal.env.PAYMENTS_URL ?? before?.baseUrl ?? defaultUrl).replace(/\/$/, '')
  const metadata = await discover(fetch, baseUrl)
  const clientId =
    before?.baseUrl === baseUrl ? before.clientId : await registerDeviceClient(fetch, metadata, `Command line on ${hostname()}`)
  const tokens = await loginByDevice({
    fetch,
    metadata,
    clientId,
    scope: values.scope ?? neededScopes,
    signal: terminal.signal,
    show: ({ userCode, verificationUriComplete }) =>
      terminal.say(`Open ${verificationUriComplete}\nand compare the code: ${userCode}`),
  })
  await writeLogin(file, { baseUrl, clientId, tokens })
  terminal.say(`Logged in to ${baseUrl} with: ${tokens.scope}`)
}

const logout = async (terminal: Terminal): Promise<void> => {
  const file = loginFile(terminal.env)
  const known = await readLogin(file)
  if (known) await revokeToken(fetch, await discover(fetch, known.baseUrl), known.clientId, known.tokens.accessToken)
  await forgetLogin(file)
  terminal.say('Logged out: the access is revoked.')
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
    const { data } = await client.call('get', '/v1/notifications', {
      query: values.after === undefined ? {} : { after: values.after },
    })
    for (const event of data) terminal.out(JSON.stringify(event))
    return
  }
  const onReconnect = () => terminal.say('the connection ended: connecting again')
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

/** The build puts the verifier in a file beside the command line. The sources do not have that file. */
const verifyReceipt = async (terminal: Terminal): Promise<void> => {
  const place = new URL('../verify-receipt.mjs', import.meta.url).href
  const verifier: Verifier = await import(place)
  const { readFileSync } = await import('node:fs')
  const read = async (path: string) => new Uint8Array(readFileSync(path === '-' ? 0 : path))
  process.exitCode = await verifier.run(terminal.args, { say: terminal.out, read })
}

export type Command = { arguments: string; summary: string; run: (terminal: Terminal) => Promise<void> }

const list = '[--limit 25] [--json]'

/** Ordered as the usage prints them. */
export const commands: Readonly<Record<string, Command>> = {
  login: {
    arguments: '[--url URL] [--scope "payment.create payment.read …"]',
    summary: 'Authorizes this machine in a browser, with limits that you choose there.',
    run: login,
  },
  logout: { arguments: '', summary: 'Revokes that access.', run: logout },
  whoami: { arguments: '', summary: 'What this credential may do, and how much of it is left.', run: whoami },
  balance: { arguments: '[--json]', summary: 'What can be spent, and what is held.', run: balance },
  payees: {
    arguments: `[add|verify|confirm|archive] [--name TEXT] [--made-by GRANT] [--proposed] [--all] ${list}`,
    summary: `Who can be paid: id, name, mask, the name at the rail, and who made it.
  payments payees add NAME NUMBER [--rail RAIL] [--bank CODE] [--account TEXT] [--legal-name TEXT]
    RAIL: a payment_rail of the API; left out, MPESA_B2C, or with --bank PESALINK
  payments payees verify|archive|confirm PAYEE…, or --made-by GRANT for all that a key or an agent made (people confirm)`,
    run: payees,
  },
  simulate: {
    arguments: 'PAYEE AMOUNT [--reference TEXT] [--at TIME]',
    summary: 'The decision that a payment would get, and why. Moves nothing.',
    run: simulate,
  },
  pay: {
    arguments:
      'PAYEE AMOUNT [--reference TEXT] [--narrative TEXT] [--purpose CODE] [--at TIME] [--key IDEMPOTENCY_KEY] [--again] [--wait]',
    summary:
      'Pays. PAYEE: a name or an id. What looks like an earlier payment is paid only if you say so, or with --again. With --at it is decided and sent then: 2026-12-01, "2026-12-01 09:00" (in the workspace\'s time zone) or 2026-12-01T09:00:00+03:00, at most 90 days ahead. CODE: what it is for, an ISO 20022 purpose code such as SALA.',
    run: pay,
  },
  batch: {
    arguments:
      'LIST.csv [--dry-run] [--name TEXT] [--at TIME] [--period TEXT] [--duplicates-intended] [--charset CHARSET] [--key IDEMPOTENCY_KEY] [--wait] [--watch] [--json]',
    summary:
      'Pays a list in CSV with one approval, and shows its rows as a table; with --dry-run only says what it would do; with --watch how far it is. The same list is paid once in a period (--period 2026-03; today, if it is left out): run again, it shows how the list stands now and exits with 3. --at TIME is as for pay.',
    run: batch,
  },
  payments: { arguments: `[--status STATUS] [--purpose CODE] ${list}`, summary: 'The newest payments.', run: paymentsList },
  payment: {
    arguments: '(PAYMENT | --key IDEMPOTENCY_KEY) [--wait] [--json]',
    summary: 'One payment, by its id or by the key that it was sent with.',
    run: payment,
  },
  cancel: {
    arguments: '(PAYMENT | BATCH) [--wait] [--json]',
    summary:
      'Cancels what waits for its approval or its time. With --wait, what is being sent already is waited for: then it ends with 1.',
    run: cancel,
  },
  statement: {
    arguments: '[--from DATE] [--to DATE] [--csv] [--json]',
    summary: 'What was booked between two dates, both inclusive: this month, if they are left out.',
    run: statement,
  },
  refusals: { arguments: list, summary: 'Payments that were asked for and refused, and why.', run: refusals },
  approvals: {
    arguments: `[--status STATUS] ${list}`,
    summary: 'What waits for a person, with the address where they decide.',
    run: approvals,
  },
  policies: { arguments: `[--status STATUS] ${list}`, summary: 'The rules of the workspace.', run: policies },
  'top-up': {
    arguments: 'AMOUNT PHONE [--key IDEMPOTENCY_KEY] [--wait]',
    summary: 'Sends an M-PESA prompt to a phone.',
    run: topUp,
  },
  deposit: { arguments: '[--by paybill|bank] [--wait]', summary: 'Says where to pay money in.', run: deposit },
  events: { arguments: '[--follow] [--after EVENT]', summary: 'Events, a line of JSON each.', run: events },
  logs: {
    arguments: '[--follow] [--status 4xx] [--grant GRANT]',
    summary: 'Requests of seven days that were refused, failed or changed something.',
    run: logs,
  },
  listen: {
    arguments:
      "--forward URL [--state FILE] [--events 'payment.*,topup.succeeded'] [--secret whsec_…] [--tries 10] [--undelivered FILE] [--replay] [--health [HOST:]PORT]",
    summary: `Posts every event to an address, signed as Standard Webhooks, in order for each resource. An event that is refused --tries times goes to the file of undelivered ones (FILE.undelivered of --state), which --replay sends again; a program that is not there is waited for. --health serves /healthz and /metrics.
  Ends with 0 when it is stopped or everything was replayed, 1 when the credential has ended, 4 when a replay left something.`,
    run: forward,
  },
  keys: {
    arguments: '[revoke|rotate KEY] [--overlap SECONDS] [--limit 25] [--json]',
    summary: 'API keys. "keys revoke KEY" ends one at once; "keys rotate KEY" replaces it, and prints the new one once.',
    run: keys,
  },
  'verify-receipt': {
    arguments: 'RECEIPT.json (--issuer URL | --jwks KEYS.json) [--rpc 1=URL]',
    summary: 'Checks a receipt without trusting the service.',
    run: verifyReceipt,
  },
  completion: {
    arguments: '(bash | zsh | fish)',
    summary: 'Completes commands and options in a shell: source <(payments completion bash)',
    run: async ({ args, out }) => out(completionFor(args[0], commands)),
  },
}

const lineOf = ([name, { arguments: args }]: [string, Command]): string => `  payments ${name} ${args}`.trimEnd()

export const usage = `payments: the payments service from a shell

${Object.entries(commands).map(lineOf).join('\n')}
  payments --version

Amounts have their cents: 250.00. Each command has --help and --url. With PAYMENTS_API_KEY (and PAYMENTS_URL) no login is needed.`

export const helpOf = (name: string, command: Command): string => `${lineOf([name, command]).trim()}\n\n${command.summary}`
