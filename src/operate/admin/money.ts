import { z } from 'zod'
import { inTx } from '../../db/client.ts'
import { TimeIn } from '../../http/wire.ts'
import { readFees, trialBalance } from '../../ledger/reports.ts'
import { daysAfter } from '../../lib/clock.ts'
import { formatId, idPrefixes } from '../../lib/ids.ts'
import { only } from '../../lib/lists.ts'
import { type AttemptRecord, attemptsOf, type Traced, traceByProviderName } from '../../modules/attempts/attempt.ts'
import { listAllPayments, resolvePayment } from '../../modules/exceptions/resolve-payment.ts'
import { presentPayment } from '../../modules/payments/present.ts'
import { FindPayments, ResolvePayment } from '../../modules/payments/schema.ts'
import {
  confirmAdjustment,
  createAdjustment,
  listAdjustments,
  rejectAdjustment,
  viewAdjustments,
} from '../../modules/suspense/adjustment-service.ts'
import { CreateAdjustment, FindAdjustments } from '../../modules/suspense/schema.ts'
import { presentTrialBalance } from '../../modules/trial-balance/routes.ts'
import { type Arguments, type Commands, everything, fieldsOf, idOf, word } from './arguments.ts'
import type { Console } from './console.ts'

const decide = async (at: Console, args: Arguments, act: typeof rejectAdjustment): Promise<unknown> => {
  const id = idOf('ledger', word(args, 0, 'adjustment'))
  return inTx(at.deps.db, async (tx) => only(await viewAdjustments(tx, [await act(tx, at.operator, id, args.options.reason)])))
}

const presentTraced = ({ kind, id, accountId, status, rail, amountMinor, providerReceipt, createdAt }: Traced) => ({
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
  'payments list': async ({ deps }, { options: { status, attention } }) =>
    (await listAllPayments(deps.db, fieldsOf(FindPayments, { status, attention }), everything)).map(presentPayment),
  'payments unknown': async ({ deps }) => {
    const payments = await listAllPayments(deps.db, { status: 'unknown' }, everything)
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
    (await traceByProviderName(deps.db, word(args, 0, 'receipt or reference'))).map(presentTraced),
  'payments resolve': async ({ deps, operator }, args) => {
    const id = idOf('payment', word(args, 0, 'payment'))
    const { evidence = '', receipt } = args.options
    const input = fieldsOf(ResolvePayment, { outcome: word(args, 1, 'succeeded or failed'), evidence, provider_receipt: receipt })
    const { payment, waitingId } = await inTx(deps.db, (tx) => resolvePayment(tx, deps.config, operator, id, input))
    return { ...presentPayment(payment), waiting_adjustment_id: waitingId && formatId('ledger', waitingId) }
  },
  'adjustments list': async ({ deps }, args) => {
    const { status } = fieldsOf(FindAdjustments, { status: args.options.status })
    return viewAdjustments(deps.db, await listAdjustments(deps.db, { ...(status && { status }) }, everything))
  },
  'adjustments create': async ({ deps, operator }, args) => {
    const to = word(args, 0, 'account or workspace')
    const input = fieldsOf(CreateAdjustment, {
      [to.startsWith(`${idPrefixes.workspace}_`) ? 'workspace_id' : 'account_id']: to,
      direction: word(args, 1, 'credit or debit'),
      amount_minor: word(args, 2, 'amount in minor units'),
      reason: args.options.reason ?? '',
    })
    return inTx(deps.db, async (tx) =>
      only(await viewAdjustments(tx, [await createAdjustment(tx, deps.config, operator, input)])),
    )
  },
  'adjustments confirm': (at, args) => decide(at, args, confirmAdjustment),
  'adjustments reject': (at, args) => decide(at, args, rejectAdjustment),
  fees: async ({ deps }, { options: { after, before } }) => {
    const { before: ends, after: begins } = fieldsOf(Times, { after, before })
    const until = ends ?? deps.clock.now()
    const days = await readFees(deps.db, begins ?? daysAfter(until, -31), until)
    return days.map(({ feesMinor, ...day }) => ({ ...day, fees_minor: String(feesMinor), currency: deps.config.CURRENCY }))
  },
  'trial-balance': async ({ deps }) => presentTrialBalance(await trialBalance(deps.db), deps.config.CURRENCY),
} satisfies Commands
