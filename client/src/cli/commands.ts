import { hostname } from 'node:os'
import { parseArgs } from 'node:util'
import type { Payments } from '../client.ts'
import { discover, loginByDevice, registerDeviceClient, revokeToken } from '../oauth.ts'
import { type ListenOptions, listen } from './listen.ts'
import { readLog } from './logs.ts'
import { batch, deposit } from './money-commands.ts'
import { defaultUrl, openClient, UsageError } from './session.ts'
import { forgetLogin, loginFile, readListenState, readLogin, writeListenState, writeLogin } from './store.ts'
import type { Terminal } from './terminal.ts'
import { newSecret } from './webhook.ts'

export const usage = `payments: the payments service from a shell

  payments login [--url URL] [--scope "payment.create payment.read …"]
  payments logout
  payments whoami
  payments simulate BENEFICIARY AMOUNT_MINOR [--reference TEXT]
  payments pay BENEFICIARY AMOUNT_MINOR [--reference TEXT] [--narrative TEXT] [--key IDEMPOTENCY_KEY] [--wait]
  payments batch LIST.csv [--dry-run] [--name TEXT] [--at TIME] [--duplicates-intended] [--key IDEMPOTENCY_KEY] [--wait]
  payments deposit [--by paybill|bank] [--wait]
  payments refusals [--limit 25]
  payments events [--follow] [--after EVENT]
  payments logs [--follow] [--status 4xx] [--grant GRANT]
  payments listen --forward URL [--state FILE] [--events 'payment.*,topup.succeeded'] [--secret whsec_…]
  payments verify-receipt RECEIPT.json (--issuer URL | --jwks KEYS.json)

Amounts are minor units: 25000 is KES 250.00. With PAYMENTS_API_KEY (and PAYMENTS_URL) no login is needed.`

type Verifier = {
  run: (
    args: readonly string[],
    terminal: { say: (line: string) => void; read: (path: string) => Promise<string> },
  ) => Promise<number>
}

const json = (value: unknown) => JSON.stringify(value, null, 2)
const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const

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
    scope: values.scope,
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

const clientOf = (terminal: Terminal, url: string | undefined): Promise<Payments> =>
  openClient(terminal.env, loginFile(terminal.env), url)

const orderOf = ([beneficiary, amount, ...more]: readonly string[]) => {
  if (beneficiary === undefined || amount === undefined || more.length > 0)
    throw new UsageError('Give a beneficiary and an amount of minor units.')
  return { beneficiary_id: beneficiary, amount_minor: amount }
}

const whoami = async (terminal: Terminal): Promise<void> => {
  const { values } = parseArgs({ args: [...terminal.args], options: { url: text } })
  const client = await clientOf(terminal, values.url)
  terminal.out(json(await client.credentials.current()))
}

const simulate = async (terminal: Terminal): Promise<void> => {
  const { values, positionals } = parseArgs({
    args: [...terminal.args],
    allowPositionals: true,
    options: { url: text, reference: text },
  })
  const order = orderOf(positionals)
  const client = await clientOf(terminal, values.url)
  const reference = values.reference !== undefined && { account_reference: values.reference }
  terminal.out(json(await client.payments.simulate({ ...order, ...reference })))
}

const pay = async (terminal: Terminal): Promise<void> => {
  const { values, positionals } = parseArgs({
    args: [...terminal.args],
    allowPositionals: true,
    options: { url: text, reference: text, narrative: text, key: text, wait: flag },
  })
  const order = orderOf(positionals)
  const client = await clientOf(terminal, values.url)
  const payment = await client.payments.create(
    {
      ...order,
      ...(values.reference !== undefined && { account_reference: values.reference }),
      ...(values.narrative !== undefined && { narrative: values.narrative }),
    },
    { signal: terminal.signal, ...(values.key !== undefined && { idempotencyKey: values.key }) },
  )
  if (payment.status === 'pending_approval') terminal.say(`A person has to approve it: ${payment.approval_id}`)
  terminal.out(json(values.wait ? await client.payments.waitFor(payment.id, { signal: terminal.signal }) : payment))
}

/** A line for each, so that another program can read it line by line. */
const refusals = async (terminal: Terminal): Promise<void> => {
  const { values } = parseArgs({ args: [...terminal.args], options: { url: text, limit: text } })
  const client = await clientOf(terminal, values.url)
  const { data } = await client.payments.refusals({ limit: Number(values.limit ?? 25) }).page()
  for (const refusal of data) terminal.out(JSON.stringify(refusal))
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
  const from = values.after === undefined ? {} : { lastEventId: values.after }
  const following = client.events({ ...from, signal: terminal.signal, onOpen: () => terminal.say('listening') })
  for await (const event of following) terminal.out(JSON.stringify(event))
}

const logs = async (terminal: Terminal): Promise<void> => {
  const { values } = parseArgs({ args: [...terminal.args], options: { url: text, follow: flag, status: text, grant: text } })
  const { status, grant: grant_id, follow = false } = values
  const filters = { ...(status !== undefined && { status }), ...(grant_id !== undefined && { grant_id }) }
  for await (const line of readLog(await clientOf(terminal, values.url), filters, { follow, signal: terminal.signal }))
    terminal.out(line)
}

const listenWithState = async (
  client: Payments,
  file: string,
  options: ListenOptions & { secretGiven: boolean },
): Promise<void> => {
  const { secretGiven, ...rest } = options
  const before = await readListenState(file)
  const secret = secretGiven || !before ? rest.secret : before.secret
  // Without an event to begin after, a restart before the first one would lose what happened in between.
  const newest = before?.lastEventId ?? (await client.notifications.list({ limit: 1 }).page()).data[0]?.id
  const keep = (lastEventId: string) => writeListenState(file, { secret, lastEventId })
  await writeListenState(file, { secret, ...(newest !== undefined && { lastEventId: newest }) })
  rest.say(`Events are signed with the secret in ${file}`)
  await listen(client, { ...rest, secret, resume: { lastEventId: newest, keep } })
}

const forward = async (terminal: Terminal): Promise<void> => {
  const { values } = parseArgs({
    args: [...terminal.args],
    options: { url: text, forward: text, secret: text, state: text, events: text },
  })
  const forwardTo = values.forward
  if (forwardTo === undefined || !URL.canParse(forwardTo))
    throw new UsageError('Say where to: --forward http://localhost:4000/hook')
  const client = await clientOf(terminal, values.url)
  const { signal, say } = terminal
  const secret = values.secret ?? newSecret()
  const types = values.events?.split(',').map((type) => type.trim()) ?? []
  if (values.state !== undefined) {
    const secretGiven = values.secret !== undefined
    return listenWithState(client, values.state, { forwardTo, secret, types, signal, say, secretGiven })
  }
  say(`Events are signed with ${secret}`)
  await listen(client, { forwardTo, secret, types, signal, say })
}

/** The verifier is a file of its own beside the built command line; the sources do not have it. */
const verifyReceipt = async (terminal: Terminal): Promise<void> => {
  const place = new URL('../verify-receipt.mjs', import.meta.url).href
  const verifier: Verifier = await import(place)
  const { readFileSync } = await import('node:fs')
  const read = async (path: string) => readFileSync(path === '-' ? 0 : path, 'utf8')
  process.exitCode = await verifier.run(terminal.args, { say: terminal.out, read })
}

export const commands: Readonly<Record<string, (terminal: Terminal) => Promise<void>>> = {
  login,
  logout,
  whoami,
  simulate,
  pay,
  batch,
  deposit,
  refusals,
  events,
  logs,
  listen: forward,
  'verify-receipt': verifyReceipt,
}
