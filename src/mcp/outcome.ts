import { z } from 'zod'
import { paymentStatuses } from '../db/transitions.ts'
import { isErrorCode } from '../errors/catalogue.ts'
import { failureActors, failureRow, isFailureCode } from '../errors/failures.ts'
import { displayAmount } from '../lib/money.ts'
import { ofRequest } from '../lib/policy-answers.ts'
import { isolated, quoted } from '../lib/text.ts'
import { Payment } from '../modules/payments/schema.ts'
import { Decision, Outcome, TraceEntry } from '../modules/policies/schema.ts'
import { chargedFee, conflictingAmount, feeText } from './amount.ts'
import { CardPayee, otherNameText, payeeText, paymentTitle, readPayee, WirePayee } from './payee.ts'
import { type Caller, guide, type Next, refusalFields, stepOf } from './tool.ts'

// `Wire` schemas parse our API's responses and tolerate other versions. `Tool` schemas describe the output for the model.

const limitFields = {
  limit_minor: z.string().optional(),
  used_minor: z.string().optional(),
  requested_minor: z.string().optional(),
  resets_at: z.string().optional(),
}

const Warning = z.object({
  code: z.string(),
  payment_id: z.string().optional(),
  name: z.string().optional(),
  verification: z.string().optional(),
})

export const WireDecision = Decision.pick({ outcome: true, explanation: true, required_approvals: true, remedy: true }).extend({
  warnings: z.array(Warning.extend({ name: z.string().nullish() })).default([]),
  trace: z.array(TraceEntry.pick({ source: true, rule: true, outcome: true }).extend(limitFields)).default([]),
})
type WireDecision = z.output<typeof WireDecision>

export const ToolDecision = z.object({
  outcome: Outcome,
  required_approvals: z.int(),
  reasons: z
    .array(z.object({ rule: z.string(), of: z.string(), ...limitFields }))
    .describe('The rules that decided; empty if all allow.'),
  change: z
    .object({
      max_amount_minor: z.string().nullable(),
      passes_at: z.string().nullable(),
      limits: z.array(z.object({ rule: z.string(), of: z.string(), to_minor: z.string().optional() })),
    })
    .optional()
    .describe(
      'The smallest change after which it is not denied (it may need an approval): an amount, a time, or limits for a person to raise.',
    ),
  warnings: z.array(Warning),
})
export type ToolDecision = z.output<typeof ToolDecision>

type Source = z.output<typeof TraceEntry>['source']

const nameOf = ({ kind, name }: Source): string => (name === ofRequest ? name : name ? `${kind} ${quoted(name)}` : kind)

const deciding = ({ outcome, trace }: WireDecision) => trace.filter((entry) => outcome !== 'allow' && entry.outcome === outcome)

export const toToolDecision = (decision: WireDecision): ToolDecision => ({
  outcome: decision.outcome,
  required_approvals: decision.required_approvals,
  reasons: deciding(decision).map(({ source, rule, outcome: _outcome, ...entry }) => ({ rule, of: nameOf(source), ...entry })),
  ...(decision.remedy && {
    change: {
      max_amount_minor: decision.remedy.max_amount_minor,
      passes_at: decision.remedy.passes_at,
      limits: decision.remedy.changes.map(({ source, rule, to_minor }) => ({ rule, of: nameOf(source), to_minor })),
    },
  }),
  warnings: decision.warnings.map(({ name, ...warning }) => ({ ...warning, name: name ? isolated(name) : undefined })),
})

const pageOfSource: Readonly<Record<string, string>> = { grant: 'agents', policy: 'policies', mandate: 'mandates' }

/** The page on which a person can raise the limit that refused: the agent's own limit first, because the person may change it. */
export const limitAddress = ({ publicUrl }: Caller, decision: WireDecision): string | undefined => {
  const sources = deciding(decision).map(({ source }) => source)
  const source = sources.find(({ kind }) => kind === 'grant') ?? sources[0]
  const page = source?.id && pageOfSource[source.kind]
  return page ? `${publicUrl}/${page}/${source.id}` : undefined
}

/**
 * The first match applies. Only an unconfirmed duplicate: stop. A rail's or capability's rule that is an error code: that error's
 * step. A rail's own rule, or limits that a smaller amount meets: change_request. Limits that reset: wait. Else: ask_a_person.
 */
export const afterDenial = (decision: WireDecision): Next => {
  const entries = deciding(decision)
  if (entries.length > 0 && entries.every(({ rule }) => rule === 'unconfirmed_duplicate')) return 'stop'
  const outside = entries.find(({ source }) => source.kind === 'rail' || source.kind === 'capability')
  if (outside && isErrorCode(outside.rule)) return stepOf(outside.rule)
  if (outside?.source.kind === 'rail' || decision.remedy?.max_amount_minor) return 'change_request'
  return decision.remedy?.passes_at ? 'wait' : 'ask_a_person'
}

export const ApprovalLink = z.object({
  id: z.string(),
  url: z.string().describe('Page where a person decides. Give it to the person as is.'),
})
export const approvalLink = ({ publicUrl }: Caller, id: string) => ({ id, url: `${publicUrl}/approve/${id}` })

/** The URL of the approval, while it can still be given. */
export const openApprovalLink = (caller: Caller, { approval_id: id, status }: { approval_id: string | null; status: string }) =>
  id !== null && (status === 'pending_approval' || status === 'scheduled') ? approvalLink(caller, id) : undefined

export const PaymentOutcome = z.object({
  status: z.enum([...paymentStatuses, 'refused']).describe('`refused`: no payment was made.'),
  payment_id: z.string().nullable(),
  ...guide,
  amount_minor: z.string().optional(),
  fee_minor: z.string().optional(),
  currency: z.string(),
  payee: CardPayee.optional(),
  approval: ApprovalLink.extend({
    expires_at: z.string().optional(),
    summary: z.object({
      amount: z.string(),
      payee: z.string(),
      purpose: z.string(),
      why: z.string(),
    }),
  }).optional(),
  decision: ToolDecision.nullable(),
  receipt: z.string().nullable(),
  ...refusalFields,
})
export type PaymentOutcome = z.output<typeof PaymentOutcome>

/** Tolerant, because a response stored by another version may lack fields or contain unknown codes. */
export const WirePayment = Payment.pick({
  ...{ id: true, status: true, amount_minor: true, currency: true, beneficiary_id: true, account_reference: true },
  ...{ narrative: true, approval_id: true, provider_receipt: true, failure_message: true, created_at: true },
}).extend({
  beneficiary: WirePayee,
  decision: WireDecision,
  purpose_code: z.string().nullish(),
  failure_code: z.string().nullable(),
  fee_minor: z.string().default('0'),
  completed_at: z.string().nullish(),
})
export type WirePayment = z.output<typeof WirePayment>

export const paymentSteps: Readonly<Record<WirePayment['status'], readonly [next: Next, message: string]>> = {
  scheduled: [
    'wait',
    'It is evaluated and sent at its scheduled time, when its money is taken. If approval.url is given, a person must approve it there before then. Call get_payment after that time.',
  ],
  pending_approval: [
    'ask_a_person',
    'A person must approve this payment. Show them approval.url, then call get_payment with wait_seconds.',
  ],
  processing: ['wait', 'The provider is processing it. Call get_payment with wait_seconds.'],
  unknown: ['wait', 'The outcome is not known yet. Do not send it again: that could pay twice. Call get_payment later.'],
  succeeded: ['done', 'The money has arrived.'],
  failed: ['stop', 'The payment failed, and the money is back. Tell the person; a new attempt needs a new idempotency_key.'],
  rejected: ['stop', 'A person rejected this payment. Do not try to pay it another way.'],
  cancelled: ['stop', 'The payment was cancelled and the money is back.'],
  expired: ['stop', 'It was not decided in time, and the money is back. Ask the person whether it is still wanted.'],
  returned: ['stop', 'The payment was made and then returned. Tell the person.'],
}

/** Whether the payment can still end in different ways. */
export const isUnderWay = ({ status }: Pick<WirePayment, 'status'>): boolean =>
  ['wait', 'ask_a_person'].includes(paymentSteps[status][0])

export const pollSeconds = 5

export const approvalOf = async (caller: Caller, payment: WirePayment): Promise<PaymentOutcome['approval']> => {
  const { decision } = payment
  const open = openApprovalLink(caller, payment)
  if (!open) return undefined
  const { status, body } = await caller.call({ method: 'GET', path: `/v1/approvals/${open.id}/message` })
  const needed =
    decision.required_approvals === 1 ? '1 approval is needed' : `${decision.required_approvals} approvals are needed`
  return {
    ...open,
    ...(status === 200 && z.object({ expires_at: z.string() }).parse(body)),
    summary: {
      amount: [displayAmount(BigInt(payment.amount_minor), payment.currency), feeText(payment.fee_minor, payment.currency)]
        .filter(Boolean)
        .join('. '),
      payee: quoted(payment.beneficiary.display_name),
      purpose:
        [payment.narrative, payment.account_reference].flatMap((text) => (text ? quoted(text) : [])).join(' · ') || 'none given',
      why: `${needed}. ${decision.explanation}`,
    },
  }
}

export const paymentOutcome = async (caller: Caller, payment: WirePayment): Promise<PaymentOutcome> => {
  const [next, message] = paymentSteps[payment.status]
  const decision = toToolDecision(payment.decision)
  const [approval, payee] = await Promise.all([approvalOf(caller, payment), readPayee(caller, payment.beneficiary_id)])
  const otherName = isUnderWay(payment) ? otherNameText(payee) : undefined
  const other = conflictingAmount(payment.narrative, payment.amount_minor, payment.currency)
  const duplicateOf = decision.warnings.find((warning) => warning.code === 'possible_duplicate')?.payment_id
  const rules = decision.outcome === 'require_approval' ? decision.reasons.map(({ rule }) => rule) : []
  const { status, failure_code: code, failure_message: failure } = payment
  const reason = failure ?? code
  const remedy = code !== null && isFailureCode(code) ? failureRow(code) : undefined
  const sentences = [
    `${paymentTitle(payment.amount_minor, payment.currency, payeeText(payment.beneficiary))}: ${message}`,
    feeText(payment.fee_minor, payment.currency),
    next === 'ask_a_person' && rules.length > 0 && `Reason: ${[...new Set(rules)].join(', ')}.`,
    status === 'failed' && reason !== null && `Reason: ${reason}`,
    remedy && `Next step for ${failureActors[remedy.actor]}: ${remedy.fix}`,
    otherName,
    other && `${other.sentence}: tell the person.`,
    duplicateOf && `It looks like ${duplicateOf}, which was made shortly before: tell the person if this was not intended.`,
  ]
  return {
    status,
    payment_id: payment.id,
    next,
    message: sentences.filter(Boolean).join(' '),
    amount_minor: payment.amount_minor,
    fee_minor: chargedFee(payment.fee_minor),
    currency: payment.currency,
    payee,
    approval,
    retry_after_seconds: next === 'wait' ? pollSeconds : undefined,
    decision,
    receipt: payment.provider_receipt,
  }
}
