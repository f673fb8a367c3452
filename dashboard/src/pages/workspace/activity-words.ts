import type { Schemas } from '../../../../client/src/route-types.ts'
import { t } from '../../lib/language.ts'
import { capitalized, requesterWords, shortMoney, statusText, sumMinor } from '../../lib/words.ts'
import { type ActivityText, isActivityText, tActivity } from './activity-texts.ts'

type Entry = Omit<Schemas['WorkspaceAuditEntry'], 'payment'> & { payment?: Schemas['WorkspaceAuditEntry']['payment'] }
type PrivateAction = Extract<
  Entry['action'],
  | `account.${string}`
  | `admin.${string}`
  | `dashboard_token.${string}`
  | `identity.${string}`
  | `passkey.${string}`
  | `notification_settings.${string}`
  | `push_subscription.${string}`
  | `session.${string}`
  | `sign_in.${string}`
>
type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? { ...value } : {})
const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** Text key of an entry, whose action can mean several things. */
const textKeyOf = (entry: Entry): ActivityText => {
  const [before, after] = [fieldsOf(entry.before), fieldsOf(entry.after)]
  switch (entry.action) {
    case 'beneficiary.updated':
      if (before.status === after.status) return 'beneficiary.updated'
      return after.status === 'frozen' ? 'beneficiary.frozen' : 'beneficiary.unfrozen'
    case 'grant.update': {
      // A workspace manager's freeze has an entry even if the member had already frozen the agent.
      const isFurtherFreeze = after.frozen === true && JSON.stringify(before) === JSON.stringify(after)
      if (before.frozen !== after.frozen || isFurtherFreeze) return after.frozen ? 'grant.frozen' : 'grant.unfrozen'
      return before.label === after.label ? 'grant.limits' : 'grant.update'
    }
    case 'member.update':
      if (after.status === 'suspended') return 'member.suspended'
      if (after.status === 'active' && before.status !== 'active') return 'member.reinstated'
      return textOf(after.role) === null ? 'member.update' : 'member.role'
    case 'approval.text_changed': {
      // If the old text says that names are being checked, the new text has the result.
      const isChecked = /^(Registered names?|Names? at the rail)(: | )being checked/m.test(textOf(before.approve) ?? '')
      return isChecked ? 'approval.text_checked' : 'approval.text_changed'
    }
    default: {
      // An action without a text is a compile error here.
      const action: ActivityText | PrivateAction | 'workspace.switch' = entry.action
      return isActivityText(action) ? action : 'another'
    }
  }
}

type Context = { people: (accountId: string) => string; currency: string }

/** Name of the subject from the entry itself, which saves a request for each row. */
const nameIn = ({ action, before, after }: Entry, { people, currency }: Context): string | null => {
  const fields = { ...fieldsOf(before), ...fieldsOf(after) }
  const minor = textOf(fields.amount_minor)
  if (minor !== null) return shortMoney(minor, currency)
  const account = action.startsWith('member.') ? textOf(fields.account) : null
  if (account !== null) return people(account)
  const names = [fields.display_name, fields.name, fields.label, fields.client_name, fields.description, fields.email]
  return names.map(textOf).find((name) => name !== null) ?? null
}

/** Name of the person, or of the key or agent and its owner. */
const actorOf = ({ account_id: account, grant_id: grant, grant_label: label }: Entry, { people }: Context): string => {
  if (account === null) return tActivity('the_service')
  if (grant === null) return people(account)
  const by = { account_id: account, grant_id: grant, label: label ?? t('key_or_agent') }
  return tActivity('by_agent', { who: requesterWords(by, people) })
}

type AuditPayment = NonNullable<Entry['payment']>
const payeeAndAmount = ({ amount_minor: amount, currency, beneficiary }: AuditPayment): string =>
  tActivity('what', { amount: shortMoney(amount, currency), payee: beneficiary.display_name })

/** Words for the entry's payment, from the entry or the payment's current state. An approval of a batch covers all of it. */
const paymentWords = ({ action, after, payment, subject }: Entry, amount: string | null): string => {
  const payee = textOf(fieldsOf(after).beneficiary)
  const isNamed = /^payment\.(create|denied)$/.test(action) && (amount !== null || !payment)
  if (isNamed && payee !== null)
    return amount === null ? tActivity('a_payment.to', { payee }) : tActivity('a_payment.of_to', { amount, payee })
  if (isNamed && amount !== null) return tActivity('a_payment.of', { amount })
  if (!payment) return tActivity('a_payment')
  const { batch } = payment
  if (!batch || subject?.type !== 'approval') return tActivity('the_payment', { what: payeeAndAmount(payment) })
  return batch.name === null ? tActivity('a_list') : tActivity('the_list', { name: batch.name })
}

/** `payment`: words for the payment. `count`: number of payments. */
const fillSentence = (entry: Entry, context: Context, payment: string, count = 1): string => {
  const base = textKeyOf(entry)
  const name = nameIn(entry, context)
  const named = `${base}.named`
  const role = textOf(fieldsOf(entry.after).role)
  const roleName = role === null ? null : { role: statusText(role).toLowerCase() }
  const values = {
    ...{ count, payment, name: name ?? '', actor: actorOf(entry, context) },
    role: roleName ? tActivity('as_role', roleName) : '',
    to_role: roleName ? tActivity('to_role', roleName) : '',
  }
  return tActivity(name !== null && isActivityText(named) ? named : base, values)
}

/** "Amina approved a payment", "You created the policy “Office expenses”". */
export const activityWords = (entry: Entry, context: Context): string => {
  const payment = paymentWords(entry, nameIn(entry, context))
  const text = fillSentence(entry, context, payment)
  const namesPayment =
    !entry.payment || text.includes(payment) || text.includes(shortMoney(entry.payment.amount_minor, context.currency))
  const isOfList = entry.payment?.batch && entry.subject?.type === 'approval'
  return capitalized(
    namesPayment || isOfList ? text : tActivity('about', { sentence: text, what: payeeAndAmount(entry.payment as AuditPayment) }),
  )
}

type Batch = Pick<Schemas['PaymentBatch'], 'items_count' | 'total_minor' | 'counts'>

/** Actions that always affect every payment of a batch. */
const wholeBatchActions = ['payment.create', 'payment.cancelled', 'payment.expired', 'payment.rejected']

/** Number of affected payments, from the batch, because not all entries may be loaded. */
const affectedCount = (action: Entry['action'], loaded: number, { items_count: all, counts }: Batch): number => {
  if (wholeBatchActions.includes(action) || (action === 'payment.processing' && !counts.failed)) return all
  return Math.max(loaded, counts[action.replace('payment.', '')] ?? 0)
}

/** One sentence for an action on several payments of a batch. `list`: the batch, once loaded. */
export const activityOfBatch = (entries: readonly Entry[], context: Context, list?: Batch): string => {
  const payments = entries.flatMap(({ payment }) => payment ?? [])
  const [entry] = entries
  const batch = payments[0]?.batch
  if (!entry || !batch) return ''
  const count = list ? affectedCount(entry.action, payments.length, list) : payments.length
  const many = batch.name === null ? tActivity('many', { count }) : tActivity('many.named', { count, name: batch.name })
  const loaded = sumMinor(payments.map(({ amount_minor: minor }) => minor))
  const total = count === list?.items_count ? list.total_minor : count === payments.length ? loaded : null
  const text = fillSentence({ ...entry, before: null, after: null }, context, many, count)
  const whole = capitalized(text.includes(many) ? text : tActivity('for_many', { sentence: text, many }))
  return total === null ? whole : tActivity('together', { sentence: whole, amount: shortMoney(total, context.currency) })
}

/** Groups entries with the same action on payments of one batch. */
export const batchKey = ({ action, subject, payment }: Entry): string | null =>
  payment?.batch && subject?.type === 'payment' ? `${action} ${payment.batch.id}` : null

const groups = [
  ...['payment.', 'approval.', 'beneficiary.', 'policy.', 'mandate.', 'api_key.'],
  ...['oauth_consent.', 'grant.', 'member.', 'invitation.', 'workspace.', 'topup.'],
]
export const activityGroups = groups.map((value) => ({ value, label: tActivity(`group.${value}` as ActivityText) }))
