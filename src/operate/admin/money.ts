import { z } from 'zod'
import { sha256 } from '../../auth/secrets.ts'
import { inTx } from '../../db/client.ts'
import { TimeIn } from '../../http/wire.ts'
import { readFees, trialBalance } from '../../ledger/reports.ts'
import { canonicalJson } from '../../lib/canonical.ts'
import { daysAfter } from '../../lib/clock.ts'
import { found } from '../../lib/errors.ts'
import { formatId, idPrefixes } from '../../lib/ids.ts'
import { only } from '../../lib/lists.ts'
import { type AttemptRecord, attemptsOf } from '../../modules/attempts/attempt.ts'
import { type TracedSubject, traceByProviderName } from '../../modules/attempts/trace.ts'
import { listAllPayments, resolvePayment } from '../../modules/exceptions/resolve-payment.ts'
import { nameOfOperator } from '../../modules/operators.ts'
import { presentPayment } from '../../modules/payments/present.ts'
import { FindPayments, ResolvePayment } from '../../modules/payments/schema.ts'
import {
  balanceNamed,
  confirmAdjustment,
  createAdjustment,
  findAdjustment,
  listAdjustments,
  rejectAdjustment,
  viewAdjustments,
} from '../../modules/suspense/adjustment-service.ts'
import { CreateAdjustment, FindAdjustments } from '../../modules/suspense/schema.ts'
import { presentTrialBalance } from '../../modules/trial-balance/routes.ts'
import { answerKeys } from '../../queue/idempotency-keys.ts'
import { writeOnce } from '../../queue/write-path.ts'
import { type Arguments, argumentAt, type Commands, idOf, parseFields, readList } from './arguments.ts'
import type { Console } from './console.ts'

const decide = async (at: Console, args: Arguments, act: typeof rejectAdjustment): Promise<unknown> => {
  const id = idOf('ledger', argumentAt(args, 0, 'adjustment'))
  return inTx(at.deps.db, async (tx) => only(await viewAdjustments(tx, [await act(tx, at.operator, id, args.options.reason)])))
}

/** A repetition within a day returns the first adjustment, because the connection may be lost at a commit that succeeded. */
const adjust = async ({ deps: { db, config }, operator }: Console, args: Arguments): Promise<unknown> => {
  const to = argumentAt(args, 0, 'account or workspace')
  const { key, reason = '' } = args.options
  const fields = {
    [to.startsWith(`${idPrefixes.workspace}_`) ? 'workspace_id' : 'account_id']: to,
    direction: argumentAt(args, 1, 'credit or debit'),
    amount_minor: argumentAt(args, 2, 'amount in minor units'),
    reason,
  }
  const input = parseFields(CreateAdjustment, fields)
  const body = canonicalJson(fields)
  const accountId = await balanceNamed(db, input)
  const { answer, replayed } = await writeOnce(db, answerKeys, {
    locks: { exclusive: [accountId] },
    once: {
      key: key ?? body,
      scope: sha256(JSON.stringify(['adjustments create', nameOfOperator(operator), key ?? body])),
      bodyHash: sha256(body),
      place: { accountId, workspaceId: accountId },
    },
    reauthenticate: async () => null,
    work: async (tx) => {
      const { id } = await createAdjustment(tx, config, operator, input)
      return { status: 201, text: JSON.stringify({ id: formatId('ledger', id) }) }
    },
  })
  const adjustment = found(await findAdjustment(db, { id: idOf('ledger', JSON.parse(answer.text).id) }))
  return { ...only(await viewAdjustments(db, [adjustment])), replayed }
}

const presentTraced = ({ kind, id, accountId, status, rail, amountMinor, providerReceipt, createdAt }: TracedSubject) => ({
  kind,
  id: formatId(kind, id),
  account_id: formatId('account', accountId),
  status,
  rail,
  amount_minor: amountMinor === null ? null : String(amountMinor),
  provider_receipt: providerReceipt,
  created_at: createdAt.toISOString(),
})

/** The identifiers by which a provider can find the attempt. */
const presentAttempt = ({ reference, orderId, providerRequest, providerConversation, createdAt }: AttemptRecord) => ({
  reference,
  order_id: orderId,
  provider_request: providerRequest,
  provider_conversation: providerConversation,
  created_at: createdAt.toISOString(),
})

const Times = z.object({ after: TimeIn.optional(), before: TimeIn.optional() })

export const moneyCommands = {
  'payments list': async ({ deps }, { options: { status, attention } }) => {
    const filter = parseFields(FindPayments, { status, attention })
    return (await readList((page) => listAllPayments(deps.db, filter, page))).map(presentPayment)
  },
  'payments unknown': async ({ deps }) => {
    const payments = await readList((page) => listAllPayments(deps.db, { status: 'unknown' }, page))
    const sent = Map.groupBy(
      await attemptsOf(
        deps.db,
        payments.map(({ id }) => id),
      ),
      ({ subjectId }) => subjectId,
    )
    return payments.map((payment) => ({ ...presentPayment(payment), attempts: sent.get(payment.id)?.map(presentAttempt) ?? [] }))
  },
  'payments find': async ({ deps }, args) =>
    (await traceByProviderName(deps.db, argumentAt(args, 0, 'receipt or reference'))).map(presentTraced),
  'payments resolve': async ({ deps, operator }, args) => {
    const id = idOf('payment', argumentAt(args, 0, 'payment'))
    const { evidence = '', receipt } = args.options
    const input = parseFields(ResolvePayment, { outcome: argumentAt(args, 1, 'outcome'), evidence, provider_receipt: receipt })
    const { payment, waitingId } = await inTx(deps.db, (tx) => resolvePayment(tx, deps.config, operator, id, input))
    return { ...presentPayment(payment), waiting_adjustment_id: waitingId && formatId('ledger', waitingId) }
  },
  'adjustments list': async ({ deps }, args) => {
    const { status } = parseFields(FindAdjustments, { status: args.options.status })
    const rows = await readList((page) => listAdjustments(deps.db, { ...(status && { status }) }, page))
    return viewAdjustments(deps.db, rows)
  },
  'adjustments create': (at, args) => adjust(at, args),
  'adjustments confirm': (at, args) => decide(at, args, confirmAdjustment),
  'adjustments reject': (at, args) => decide(at, args, rejectAdjustment),
  fees: async ({ deps }, { options: { after, before } }) => {
    const { before: ends, after: begins } = parseFields(Times, { after, before })
    const until = ends ?? deps.clock.now()
    const days = await readFees(deps.db, begins ?? daysAfter(until, -31), until)
    return days.map(({ feesMinor, ...day }) => ({ ...day, fees_minor: String(feesMinor), currency: deps.config.CURRENCY }))
  },
  'trial-balance': async ({ deps }) => presentTrialBalance(await trialBalance(deps.db), deps.config.CURRENCY),
} satisfies Commands
