import { z } from 'zod'
import { Refusal } from '../../lib/errors.ts'
import { displayAmount } from '../../lib/money.ts'
import { quoted } from '../../lib/text.ts'
import { Credential as ApiCredential } from '../../modules/credentials/schema.ts'
import { amountInput, withMinor, withOneAmount } from '../amount.ts'
import { createRecord, defineTool, guide, type Next, pick, readHints, readRoute, waitForEnd, waitInput } from '../tool.ts'

const Credential = pick(ApiCredential, 'account_id', 'workspace_id', 'permissions', 'headroom', 'expires_at').extend({
  headroom: ApiCredential.shape.headroom.describe(
    'The amount left under the strictest limits; null means no limit. From approval_from_minor on, a person must approve.',
  ),
})

const whoami = defineTool({
  name: 'get_credential',
  title: 'Get the credential',
  description: 'Returns what this credential may do and how much it can still pay today, this month and in total. Call it first.',
  operation: null,
  hints: readHints,
  input: z.strictObject({}),
  output: Credential.extend(guide),
  run: async (_input, caller) => {
    const credential = await readRoute(caller, Credential, '/v1/credentials/current')
    const { permissions } = credential
    const message = permissions.includes('payment.create')
      ? 'Find the beneficiary with list_beneficiaries, then call simulate_payment.'
      : 'This credential cannot pay: a person must grant it payment.create.'
    return { ...credential, next: 'done' as const, message }
  },
})

const Workspace = z.object({
  id: z.string(),
  name: z.string().describe('Written by people in the workspace.'),
  balance: z.object({ currency: z.string(), available_minor: z.string(), held_minor: z.string() }).nullable(),
})

const balance = defineTool({
  name: 'get_balance',
  title: 'Get the balance',
  description:
    'Returns the available balance of this credential’s workspace, and the amount held for payments in progress. Other workspaces have their own balances.',
  operation: 'workspaces.current',
  hints: readHints,
  input: z.strictObject({}),
  output: z.object({
    workspace: Workspace.omit({ balance: true }),
    currency: z.string(),
    available_minor: z.string(),
    held_minor: z.string(),
    ...guide,
  }),
  run: async (_input, caller) => {
    const { workspace } = await readRoute(caller, z.object({ workspace: Workspace }), '/v1/workspaces/current')
    const { balance: read, ...named } = workspace
    if (!read) throw new Refusal('forbidden', { message: 'This credential may not read the balance: a person can.' })
    const [available, held] = [read.available_minor, read.held_minor].map((text) => displayAmount(BigInt(text), read.currency))
    const message = `${available} can be spent in the workspace ${quoted(named.name)}; ${held} is held for payments in progress. Use request_topup to add money.`
    return { workspace: named, ...read, next: 'done' as const, message }
  },
})

export const accountTools = [whoami, balance]

const Topup = z.object({
  id: z.string(),
  status: z.string().describe('pending until the provider answers; expired may still succeed later.'),
  amount_minor: z.string().nullable().describe('Requested; null for a deposit of any amount.'),
  received_minor: z.string().nullable().describe('The amount that arrived.'),
  currency: z.string(),
  phone_number_mask: z.string().nullable(),
  instructions: z.record(z.string(), z.string()).nullable().describe('For deposits: the account and number to pay to.'),
  provider_receipt: z.string().nullable(),
  failure_code: z.string().nullable(),
  failure_message: z.string().nullable(),
})

const GuidedTopup = Topup.extend(guide)

const topupSteps: Readonly<Record<string, readonly [Next, string]>> = {
  pending: ['wait', 'the owner of the phone enters the PIN there. Call get_topup with wait_seconds until it has ended.'],
  succeeded: ['done', 'the money is in the balance.'],
  failed: ['ask_a_person', 'it failed. Ask the owner of the phone before you send another prompt.'],
  expired: [
    'ask_a_person',
    'nothing arrived in time; it may still arrive. Ask the owner of the phone before you send another prompt.',
  ],
}

const withGuide = (topup: z.output<typeof Topup>): z.output<typeof GuidedTopup> => {
  const { status, amount_minor, received_minor, currency, phone_number_mask: phone } = topup
  const [next, sentence] = topupSteps[status] ?? ['done' as const, status]
  const minor = received_minor ?? amount_minor
  const from = phone === null ? '' : ` from ${phone}`
  return { ...topup, next, message: `${minor === null ? currency : displayAmount(BigInt(minor), currency)}${from}: ${sentence}` }
}

const isOpen = ({ status }: z.output<typeof Topup>): boolean => topupSteps[status]?.[0] === 'wait'

const requestTopup = defineTool({
  name: 'request_topup',
  title: 'Request a top-up',
  description: 'Sends an M-PESA prompt to a phone. The owner enters the PIN, and the money arrives in the workspace balance.',
  operation: 'topups.initiate',
  hints: { ...readHints, readOnlyHint: false, openWorldHint: true },
  input: withOneAmount(
    z.strictObject({
      idempotency_key: z.string().min(1).max(255).describe('One per intended top-up.'),
      ...amountInput,
      phone_number: z.string().describe('A Kenyan mobile number.'),
      ...waitInput,
    }),
  ),
  output: GuidedTopup,
  run: async ({ idempotency_key: idempotencyKey, wait_seconds, ...order }, caller) => {
    const request = { path: '/v1/topups/initiate', readAt: '/v1/topups', body: withMinor(order), idempotencyKey }
    const { first, again } = await createRecord(caller, Topup, request)
    return withGuide(await waitForEnd(caller, wait_seconds, { first, isOpen, again }))
  },
})

const getTopup = defineTool({
  name: 'get_topup',
  title: 'Get a top-up',
  description: 'Returns whether a top-up has arrived. With wait_seconds, waits for the end.',
  operation: 'topups.get',
  hints: readHints,
  input: z.strictObject({ topup_id: z.string(), ...waitInput }),
  output: GuidedTopup,
  run: async ({ topup_id, wait_seconds }, caller) => {
    const again = () => readRoute(caller, Topup, `/v1/topups/${encodeURIComponent(topup_id)}`)
    return withGuide(await waitForEnd(caller, wait_seconds, { first: await again(), isOpen, again }))
  },
})

export const topupTools = [requestTopup, getTopup]

const WireEvent = z.object({ id: z.string(), type: z.string(), created_at: z.string(), data: z.unknown() })
const EventSubject = z.object({ id: z.string().optional().catch(undefined), status: z.string().optional().catch(undefined) })

const Event = z.object({
  id: z.string(),
  type: z.string(),
  created_at: z.string(),
  resource_id: z.string().nullable().describe('The ID of the resource.'),
  status: z.string().nullable(),
})

const listEvents = defineTool({
  name: 'list_events',
  title: 'List recent events',
  description: 'Lists recent events that this credential can read, newest first. With `after`, lists later events, oldest first.',
  operation: null,
  hints: readHints,
  input: z.strictObject({
    after: z.string().optional().describe('The ID of the last event that you received.'),
    limit: z.int().min(1).max(100).default(25),
  }),
  output: z.object({ ...guide, events: z.array(Event) }),
  run: async (query, caller) => {
    const { data } = await readRoute(caller, z.object({ data: z.array(WireEvent) }), '/v1/notifications', query)
    const events = data.map(({ data: about, ...event }) => {
      const { id = null, status = null } = EventSubject.safeParse(about).data ?? {}
      return { ...event, resource_id: id, status }
    })
    const message = 'Read a payment with get_payment, or ask again later with `after`: the id of the newest event here.'
    return { next: 'done' as const, message, events }
  },
})

export const eventTools = [listEvents]
