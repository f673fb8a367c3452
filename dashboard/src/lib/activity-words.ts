import type { Schemas } from '../../../client/src/route-types.ts'
import { capitalized, countWords, requesterWords, shortMoney, sumMinor } from './words.ts'

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
/** What can be in a workspace's log. An action without words is a compile error here. */
type Action = Exclude<Entry['action'], PrivateAction | 'workspace.switch'>

type Object = { name: string | null; before: Fields; after: Fields }
type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? { ...value } : {})
const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** "the policy “Office expenses”" where the entry says which, else "a policy". */
const thing = (name: string | null, one: string): string => (name === null ? one : `${one.replace(/^an? /, 'the ')} “${name}”`)
const holder = (name: string | null): string => (name === null ? 'a key or agent' : `“${name}”`)
const payee = (name: string | null): string => name ?? 'a beneficiary'
const amount = (name: string | null, one: string): string => (name === null ? one : `${one} of ${name}`)

const toPayee = ({ beneficiary }: Fields): string => (textOf(beneficiary) === null ? '' : ` to ${textOf(beneficiary)}`)

const roleName = (role: unknown): string | null => (role === 'admin' ? 'administrator' : textOf(role))
const asRole = (role: unknown): string => (roleName(role) === null ? '' : ` as ${roleName(role)}`)

const changeOfBeneficiary = ({ name, before, after }: Object): string => {
  if (before.status === after.status) return `changed ${name === null ? 'a beneficiary' : `the beneficiary ${name}`}`
  return `${after.status === 'frozen' ? 'froze' : 'unfroze'} payments to ${payee(name)}`
}
const changeOfGrant = ({ name, before, after }: Object): string => {
  // A freeze by who manages the workspace is an entry also where the member had frozen it before.
  const isFurtherFreeze = after.frozen === true && JSON.stringify(before) === JSON.stringify(after)
  if (before.frozen !== after.frozen || isFurtherFreeze) return `${after.frozen ? 'froze' : 'unfroze'} ${holder(name)}`
  return `${before.label === after.label ? 'changed the limits of' : 'changed'} ${holder(name)}`
}
const changeOfMember = ({ name, before, after }: Object): string => {
  const member = name ?? 'a member'
  if (after.status === 'suspended') return `suspended ${member}`
  if (after.status === 'active' && before.status !== 'active') return `reinstated ${member}`
  const role = roleName(after.role)
  return role === null ? `changed the membership of ${member}` : `changed the role of ${member} to ${role}`
}
/** Of a list always the first: its text says once what the checks found. */
const changeOfText = ({ before }: Object): string =>
  /^Names? at the rail(: | )being checked/m.test(textOf(before.approve) ?? '')
    ? 'Names at the payment method were checked, and the approval of a payment says what was found'
    : 'A name at the payment method changed, so the approval of a payment begins again'

/** They follow a person's name. A sentence with a capital letter stands alone: no one in the workspace did it. */
const words: Readonly<Record<Action, string | ((object: Object) => string)>> = {
  'api_key.create': ({ name }) => `created ${thing(name, 'an API key')}`,
  'api_key.revoke': ({ name }) => `revoked ${thing(name, 'an API key')}`,
  'api_key.rotate': ({ name }) => `rotated ${thing(name, 'an API key')}`,
  'approval.approve': 'approved a payment',
  'approval.approved': 'A payment received all its approvals',
  'approval.cancelled': 'An approval request was cancelled with its payment',
  'approval.decision_voided': 'An approval stopped counting, because what it rested on has ended or its text has changed',
  'approval.expired': 'An approval request expired',
  'approval.refused': 'Someone who may not decide a payment tried to',
  'approval.reject': 'rejected a payment',
  'approval.rejected': 'An approval request was rejected',
  'approval.text_changed': changeOfText,
  'beneficiary.archived': ({ name }) => `archived ${payee(name)}`,
  'beneficiary.name_check': ({ name }) =>
    name === null ? 'asked for the name of a beneficiary' : `asked whose number ${name} is`,
  'beneficiary.confirmed': ({ name }) => (name === null ? 'confirmed a beneficiary' : `confirmed ${name} as a beneficiary`),
  'beneficiary.created': ({ name }) => (name === null ? 'added a beneficiary' : `added ${name} as a beneficiary`),
  'beneficiary.updated': changeOfBeneficiary,
  'grant.create': ({ name }) => `gave access to ${holder(name)}`,
  'grant.revoke': ({ name }) => `revoked the access of ${holder(name)}`,
  'grant.update': changeOfGrant,
  'invitation.accept': 'accepted an invitation',
  'invitation.create': ({ name, after }) => `invited ${name ?? 'someone'}${asRole(after.role)}`,
  'invitation.revoke': 'cancelled an invitation',
  'mandate.create': ({ name }) => `signed ${thing(name, 'a mandate')}`,
  'mandate.exhausted': 'A mandate was used up',
  'mandate.expired': 'A mandate expired',
  'mandate.refused': 'A signature for a mandate was refused',
  'mandate.revoked': 'revoked a mandate',
  'member.leave': 'left the workspace',
  'member.remove': ({ name }) => `removed ${name ?? 'a member'}`,
  'member.update': changeOfMember,
  'oauth_client.register': 'An app registered itself',
  'oauth_code.reused': 'An agent’s sign-in code was used twice, so its access was revoked',
  'oauth_consent.approve': ({ name }) => `connected ${thing(name, 'an agent')}`,
  'oauth_consent.deny': ({ name }) => `denied access to ${thing(name, 'an agent')}`,
  'oauth_token.issue': 'An agent received its first access token',
  'oauth_token.refresh': 'An agent renewed its access token',
  'oauth_token.reused': 'An agent’s refresh token was used twice, so its access was revoked',
  'oauth_token.revoke': 'An agent ended its own access',
  'payment_batch.cancelled': 'cancelled a list of payments',
  'payment_batch.completed': 'A list of payments was completed',
  'payment_batch.create': 'created a list of payments',
  'payment_batch.denied': 'tried a list of payments that was refused',
  'payment_batch.expired': 'A list of payments expired before it was approved',
  'payment_batch.failed': 'A list of payments failed',
  'payment_batch.processing': 'A list of payments was released for sending',
  'payment_batch.rejected': 'A list of payments was rejected',
  'payment.cancelled': 'cancelled a payment',
  'payment.create': ({ name, after }) => `created ${amount(name, 'a payment')}${toPayee(after)}`,
  'payment.denied': ({ name, after }) => `requested ${amount(name, 'a payment')}${toPayee(after)}, and it was refused`,
  'payment.expired': 'A payment expired before it was approved',
  'payment.failed': 'A payment failed',
  'payment.late_success': 'A payment that had failed turned out to have been paid',
  'payment.late_success_charged': 'A payment that had failed was charged after all, because it was paid',
  'payment.late_success_written_off': 'A payment that had failed was paid at no charge',
  'payment.processing': 'A payment was released for sending',
  'payment.receipt': 'The receipt of a payment arrived',
  'payment.rejected': 'A payment was rejected',
  'payment.returned': 'A payment was returned',
  'payment.succeeded': 'A payment succeeded',
  'payment.unknown': 'The outcome of a payment is being checked',
  'policy.archived': ({ name }) => `archived ${thing(name, 'a policy')}`,
  'policy.change_requested': ({ name }) => `asked to make ${thing(name, 'a policy')} less strict`,
  'policy.change_withdrawn': ({ name }) => `withdrew the waiting change of ${thing(name, 'a policy')}`,
  'policy.created': ({ name }) => `created ${thing(name, 'a policy')}`,
  'policy.updated': ({ name }) => `changed ${thing(name, 'a policy')}`,
  'suspense.record': 'Money that a provider reported could not be matched',
  'topup.deposit': 'A further deposit arrived',
  'topup.expired': 'A top-up expired',
  'topup.failed': 'A top-up failed',
  'topup.initiate': ({ name }) => `started ${amount(name, 'a top-up')}`,
  'topup.other_amount': 'A top-up brought another amount than was asked for',
  'topup.receipt': 'The receipt of a top-up arrived',
  'topup.succeeded': 'A top-up succeeded',
  'workspace.create': 'created the workspace',
  'workspace.freeze': 'froze the workspace',
  'workspace.separate': 'gave the workspace a balance of its own',
  'workspace.separation_confirm': 'confirmed a balance of its own for the workspace',
  'workspace.separation_request': 'asked for a balance of its own for the workspace',
  'workspace.separation_withdraw': 'withdrew the request for a balance of its own',
  'workspace.unfreeze': 'unfroze the workspace',
  'workspace.export_evidence': 'exported evidence for an audit',
  'workspace.update': 'changed the workspace’s settings',
}

type Context = { people: (accountId: string) => string; currency: string }

/** What was acted on, as the entry itself names it: no request for each row. */
const nameIn = ({ action, before, after }: Entry, { people, currency }: Context): string | null => {
  const fields = { ...fieldsOf(before), ...fieldsOf(after) }
  const minor = textOf(fields.amount_minor)
  if (minor !== null) return shortMoney(minor, currency)
  const account = action.startsWith('member.') ? textOf(fields.account) : null
  if (account !== null) return people(account)
  const names = [fields.display_name, fields.name, fields.label, fields.client_name, fields.description, fields.email]
  return names.map(textOf).find((name) => name !== null) ?? null
}

/** An act of a key or an agent is not its owner's: it is named, and whose it is. */
const actorOf = ({ account_id: account, grant_id: grant, grant_label: label }: Entry, { people }: Context): string => {
  if (account === null) return 'the service'
  if (grant === null) return people(account)
  const requester = requesterWords({ account_id: account, grant_id: grant, label: label ?? 'A key or an agent' }, people)
  return `${requester},`
}

/** "Amina approved a payment", "You created the policy “Office expenses”". */
export const activityWords = (entry: Entry, context: Context): string => {
  const sentence = Object.hasOwn(words, entry.action) ? words[entry.action as Action] : 'Another action was recorded'
  const object = { name: nameIn(entry, context), before: fieldsOf(entry.before), after: fieldsOf(entry.after) }
  const text = typeof sentence === 'string' ? sentence : sentence(object)
  const named = entry.payment ? naming(text, entry, entry.payment) : text
  return /^[A-Z]/.test(named) ? named : capitalized(`${actorOf(entry, context)} ${named}`)
}

const listName = ({ name }: { name: string | null }): string => (name === null ? 'a list' : `the list “${name}”`)

/** "approved a payment" as "approved the payment of KES 450 to Brian Otieno": an approval of a list is about the whole of it. */
const naming = (text: string, { subject }: Entry, payment: NonNullable<Entry['payment']>): string => {
  const money = shortMoney(payment.amount_minor, payment.currency)
  if (text.includes(money)) return text
  if (payment.batch && subject?.type === 'approval') return text.replace(/\ba payment\b/, listName(payment.batch))
  const what = `${money} to ${payment.beneficiary.display_name}`
  const put = text.replace(/\b(a) payment\b/i, (_, a: string) => `${a === 'A' ? 'The' : 'the'} payment of ${what}`)
  return put === text ? `${text}: ${what}` : put
}

type Batch = Pick<Schemas['PaymentBatch'], 'items_count' | 'total_minor' | 'counts'>

/** These happen to every payment of a list. */
const wholeActions = ['payment.create', 'payment.cancelled', 'payment.expired', 'payment.rejected']

/** To how many payments of the list it happened: the list says so, whatever part of the entries is loaded. */
const countIn = (action: Entry['action'], loaded: number, { items_count: all, counts }: Batch): number => {
  if (wholeActions.includes(action) || (action === 'payment.processing' && !counts.failed)) return all
  return Math.max(loaded, counts[action.replace('payment.', '')] ?? 0)
}

/** What happened to several payments of one list, as one sentence. `list`: the list itself, once it is loaded. */
export const activityOfList = (entries: readonly Entry[], context: Context, list?: Batch): string => {
  const payments = entries.flatMap(({ payment }) => payment ?? [])
  const [entry] = entries
  const batch = payments[0]?.batch
  if (!entry || !batch) return ''
  const one = activityWords({ ...entry, before: null, after: null, payment: null }, context)
  const count = list ? countIn(entry.action, payments.length, list) : payments.length
  const many = `${countWords(count, 'payment')} of ${listName(batch)}`
  const loaded = sumMinor(payments.map(({ amount_minor: minor }) => minor))
  const total = count === list?.items_count ? list.total_minor : count === payments.length ? loaded : null
  const put = one.replace(/^A payment was\b/, `${many} were`).replace(/\ba payment\b/i, many)
  const sentence = put === one ? `${one}, for ${many}` : put
  return total === null ? sentence : `${sentence}, ${shortMoney(total, context.currency)} together`
}

/** Entries about payments of one list on which the same was done. */
export const listKey = ({ action, subject, payment }: Entry): string | null =>
  payment?.batch && subject?.type === 'payment' ? `${action} ${payment.batch.id}` : null

export const activityGroups: readonly { value: string; label: string }[] = [
  { value: 'payment.', label: 'Payments' },
  { value: 'approval.', label: 'Approvals' },
  { value: 'beneficiary.', label: 'Beneficiaries' },
  { value: 'policy.', label: 'Policies' },
  { value: 'mandate.', label: 'Mandates' },
  { value: 'api_key.', label: 'API keys' },
  { value: 'oauth_consent.', label: 'Agents' },
  { value: 'grant.', label: 'Access and limits' },
  { value: 'member.', label: 'Members' },
  { value: 'invitation.', label: 'Invitations' },
  { value: 'workspace.', label: 'Workspace' },
  { value: 'topup.', label: 'Top-ups' },
]

const places: Readonly<Record<string, string>> = {
  pay: '/payments/',
  pba: '/payments/batches/',
  apr: '/approvals/',
  ben: '/beneficiaries/',
  pol: '/policies/',
  man: '/mandates/',
  top: '/top-up/',
  gra: '/agents/',
}

export const activityHref = (subject: { id: string } | null): string | null => {
  const place = subject && places[subject.id.slice(0, 3)]
  return place ? place + subject.id : null
}

/** The page of what a request was about: of the last thing that its path names. */
export const requestHref = (path: string): string | null =>
  path
    .split('/')
    .filter((part) => /^[a-z]{3}_[0-9a-z]{26}$/.test(part))
    .reduce<string | null>((found, id) => activityHref({ id }) ?? found, null)
