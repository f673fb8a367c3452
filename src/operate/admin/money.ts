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
import { type Commands, command, idOf, parseFields, readList } from './arguments.ts'
import type { Console } from './console.ts'

const decide = async (at: Console, name: string, reason: string | undefined, act: typeof rejectAdjustment): Promise<unknown> => {
  const id = idOf('ledger', name)
  return inTx(at.deps.db, async (tx) => only(await viewAdjustments(tx, [await act(tx, at.operator, id, reason)])))
}

/** A repetition within a day returns the first adjustment, because the connection may be lost at a commit that succeeded. */
const adjust = async (
  { deps: { db, config }, operator }: Console,
  [to, direction, amount_minor]: readonly [string, string, string],
  { key, reason = '' }: { key?: string; reason?: string },
): Promise<unknown> => {
  const balance = to.startsWith(`${idPrefixes.workspace}_`) ? 'workspace_id' : 'account_id'
  const fields = { [balance]: to, direction, amount_minor, reason }
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
  'payments find': command(
    '<receipt-or-reference>',
    "the payment or top-up behind a provider's statement line",
    async ({ deps }, [name]) => (await traceByProviderName(deps.db, name)).map(presentTraced),
  ),
  'payments list': command(
    '[--status <status>] [--attention late_success]',
    'payments of all accounts, newest first',
    async ({ deps }, _, { status, attention }) => {
      const filter = parseFields(FindPayments, { status, attention })
      return (await readList((page) => listAllPayments(deps.db, filter, page))).map(presentPayment)
    },
  ),
  'payments unknown': command('', 'payments with an unknown outcome', async ({ deps: { db } }) => {
    const payments = await readList((page) => listAllPayments(db, { status: 'unknown' }, page))
    const attempts = await attemptsOf(
      db,
      payments.map(({ id }) => id),
    )
    const sent = Map.groupBy(attempts, ({ subjectId }) => subjectId)
    return payments.map((payment) => ({
      ...presentPayment(payment),
      attempts: sent.get(payment.id)?.map(presentAttempt) ?? [],
    }))
  }),
  'payments resolve': command(
    '<payment> succeeded|failed|charged|written_off --evidence <text> [--receipt <receipt>]',
    'ends a payment whose outcome is unknown, or books its late success',
    async ({ deps, operator }, [name, outcome], { evidence, receipt }) => {
      const id = idOf('payment', name)
      const input = parseFields(ResolvePayment, { outcome, evidence, provider_receipt: receipt })
      const { payment, waitingId } = await inTx(deps.db, (tx) => resolvePayment(tx, deps.config, operator, id, input))
      return { ...presentPayment(payment), waiting_adjustment_id: waitingId && formatId('ledger', waitingId) }
    },
  ),
  'adjustments list': command('[--status pending]', 'adjustments, newest first', async ({ deps }, _, options) => {
    const { status } = parseFields(FindAdjustments, options)
    const rows = await readList((page) => listAdjustments(deps.db, { ...(status && { status }) }, page))
    return viewAdjustments(deps.db, rows)
  }),
  'adjustments create': command(
    '<account-or-workspace> credit|debit <minor-units> --reason <text> [--key <text>]',
    'changes a balance. A repetition within a day returns the first adjustment; --key: makes another one',
    adjust,
  ),
  'adjustments confirm': command('<adjustment>', 'books an adjustment that waits for a second person', (at, [name]) =>
    decide(at, name, undefined, confirmAdjustment),
  ),
  'adjustments reject': command(
    '<adjustment> [--reason <text>]',
    'ends an adjustment that waits for a second person',
    (at, [name], { reason }) => decide(at, name, reason, rejectAdjustment),
  ),
  'trial-balance': command('', "the sums of the ledger's accounts", async ({ deps }) =>
    presentTrialBalance(await trialBalance(deps.db), deps.config.CURRENCY),
  ),
  fees: command(
    '[--after <time>] [--before <time>]',
    'charged fees by day and rail; default: the last 31 days',
    async ({ deps }, _, options) => {
      const { before: ends, after: begins } = parseFields(Times, options)
      const until = ends ?? deps.clock.now()
      const days = await readFees(deps.db, begins ?? daysAfter(until, -31), until)
      return days.map(({ feesMinor, ...day }) => ({ ...day, fees_minor: String(feesMinor), currency: deps.config.CURRENCY }))
    },
  ),
} satisfies Commands
