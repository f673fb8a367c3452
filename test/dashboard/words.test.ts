import { expect, test, vi } from 'vitest'
import type { Schemas } from '../../client/src/route-types.ts'
import { warningsOfBatch } from '../../dashboard/src/lib/batch-warnings.ts'
import { readableMessage } from '../../dashboard/src/lib/field-words.ts'
import { decisionReason } from '../../dashboard/src/lib/rule-words.ts'
import { controlsFromChoice, controlsToDraft } from '../../dashboard/src/lib/spending-draft.ts'
import { setPageZone, shortTime } from '../../dashboard/src/lib/time.ts'
import { groupDigits, nameAmong, parseMajor, statusCount } from '../../dashboard/src/lib/words.ts'
import { activityOfBatch, activityWords } from '../../dashboard/src/pages/workspace/activity-words.ts'
import { paymentStatuses } from '../../src/db/transitions.ts'
import { workspaceAuditActions } from '../../src/events/audit-actions.ts'
import { registeredName } from '../../src/modules/payments/approvals/message.ts'
import { ruleOf } from '../../src/policy/rules.ts'

const context = { people: (id: string) => (id === 'acc_own' ? 'you' : 'Amina Otieno'), currency: 'KES' }
const payment = {
  id: 'pay_1',
  amount_minor: '45000',
  currency: 'KES',
  beneficiary: { id: 'ben_1', display_name: 'Brian Otieno' },
  batch: null,
}
const unknownName = { reportedName: null, verification: 'unverified', nameSource: null } as const
const sentence = (entry: Partial<Schemas['WorkspaceAuditEntry']>) =>
  activityWords(
    { account_id: 'acc_own', grant_id: null, before: null, after: null, ...entry } as Schemas['WorkspaceAuditEntry'],
    context,
  ).replaceAll('\u00a0', ' ')

test('an event is of today, of yesterday or of another day by the calendar', () => {
  setPageZone('Africa/Nairobi')
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2027-03-05T20:30:00.000Z') })
  expect(shortTime('2027-03-04T22:10:00.000Z')).toBe('today')
  expect(shortTime('2027-03-04T08:00:00.000Z')).toBe('yesterday')
  expect(shortTime('2027-03-03T20:00:00.000Z')).toBe('2 days ago')
  vi.useRealTimers()
})

test('amounts that “No limit” hides do not matter', () => {
  const draft = { ...controlsToDraft({}), daily_limit_minor: '12,50', approval_threshold_minor: '500' }
  expect(controlsFromChoice({ choice: 'unlimited', draft })).toEqual({ approval_threshold_minor: '50000' })
  expect(controlsFromChoice({ choice: 'limited', draft })).toBeNull()
  expect(controlsFromChoice({ choice: 'unlimited', draft: { ...draft, approval_threshold_minor: 'x' } })).toBeNull()
})

test.each(workspaceAuditActions)('%s has a sentence of its own', (action) => {
  const expected = sentence({ action })
  expect(expected).toMatch(/^(You|A|An|Someone|Money|The) [a-z]/)
  expect(expected).not.toMatch(/[_.]|recorded/)
})

test.each([
  [{ action: 'policy.created', after: { name: 'Office expenses' } }, 'You created the policy “Office expenses”'],
  [{ action: 'beneficiary.created', after: { display_name: 'Kenya Power' } }, 'You added Kenya Power as a beneficiary'],
  [
    {
      action: 'beneficiary.updated',
      before: { status: 'active' },
      after: { status: 'frozen', display_name: 'Kenya Power' },
    },
    'You froze payments to Kenya Power',
  ],
  [{ action: 'payment.create', after: { amount_minor: '2349900' } }, 'You created a payment of KES 23,499'],
  [{ action: 'oauth_consent.approve', after: { client_name: 'Shopping agent' } }, 'You connected the agent “Shopping agent”'],
  [
    { action: 'member.update', before: { account: 'acc_other', role: 'viewer' }, after: { account: 'acc_other', role: 'admin' } },
    'You changed the role of Amina Otieno to administrator',
  ],
  [
    {
      action: 'payment.create',
      grant_id: 'gra_one',
      grant_label: 'Procurement agent',
      after: { amount_minor: '45000', beneficiary: 'Brian Otieno' },
    },
    'Procurement agent, your agent, created a payment of KES 450 to Brian Otieno',
  ],
  [{ action: 'approval.approve', account_id: 'acc_other' }, 'Amina Otieno approved a payment'],
  [{ action: 'payment.succeeded', account_id: null }, 'A payment succeeded'],
  [{ action: 'payment.succeeded', account_id: null, payment }, 'The payment of KES 450 to Brian Otieno succeeded'],
  [
    { action: 'approval.approve', account_id: 'acc_other', subject: { type: 'approval', id: 'apr_1' }, payment },
    'Amina Otieno approved the payment of KES 450 to Brian Otieno',
  ],
  [
    {
      action: 'approval.approve',
      account_id: 'acc_other',
      subject: { type: 'approval', id: 'apr_1' },
      payment: { ...payment, batch: { id: 'pbt_1', name: 'Salaries' } },
    },
    'Amina Otieno approved the batch “Salaries”',
  ],
  [
    {
      action: 'grant.update',
      account_id: 'acc_other',
      before: { label: 'Till', frozen: true },
      after: { label: 'Till', frozen: true },
    },
    'Amina Otieno froze “Till”',
  ],
  [
    {
      action: 'grant.update',
      account_id: 'acc_other',
      before: { label: 'Till', frozen: false },
      after: { label: 'Till', frozen: false },
    },
    'Amina Otieno changed the limits of “Till”',
  ],
  [
    {
      action: 'grant.update',
      account_id: 'acc_other',
      before: { label: 'Till', frozen: true },
      after: { label: 'Shop', frozen: true },
    },
    'Amina Otieno changed “Shop”',
  ],
  [
    { action: 'approval.expired', account_id: null, subject: { type: 'approval', id: 'apr_1' }, payment },
    'An approval request expired: KES 450 to Brian Otieno',
  ],
  [
    {
      action: 'approval.text_changed',
      account_id: null,
      subject: { type: 'approval', id: 'apr_1' },
      before: { approve: "Payees whose name differs from the rail's: 0\nNames at the rail being checked: 12\nLargest:" },
      payment: { ...payment, batch: { id: 'pbt_1', name: 'Salaries' } },
    },
    'The payment method checked the names, and the approval of the batch “Salaries” shows the result',
  ],
  [
    {
      action: 'approval.text_changed',
      account_id: null,
      subject: { type: 'approval', id: 'apr_1' },
      before: { approve: `Registered name: ${registeredName({ ...unknownName, isBeingChecked: true })}` },
      payment,
    },
    'The payment method checked the names, and the approval of the payment of KES 450 to Brian Otieno shows the result',
  ],
  [
    {
      action: 'approval.text_changed',
      account_id: null,
      subject: { type: 'approval', id: 'apr_1' },
      before: {
        approve: `Name at the rail: ${registeredName({ ...unknownName, reportedName: 'B. Otieno', verification: 'match' })}`,
      },
      payment,
    },
    'The payment method reported a different name, so the approval of the payment of KES 450 to Brian Otieno starts again',
  ],
] as const)('the role %j reads "%s"', (entry, expected) => expect(sentence(entry)).toBe(expected))

test('what happened to the payments of one list is one sentence, with their sum', () => {
  const batch = { id: 'pbt_1', name: 'Salaries' }
  const entry = {
    action: 'payment.succeeded',
    account_id: null,
    grant_id: null,
    subject: { type: 'payment', id: 'pay_1' },
    payment: { ...payment, batch },
  }
  const entries = [entry, entry] as Schemas['WorkspaceAuditEntry'][]
  const words = (of: typeof entries) => activityOfBatch(of, context).replaceAll('\u00a0', ' ')
  expect(words(entries)).toBe('2 payments in the batch “Salaries” succeeded, KES 900 in total')
  const released = entries.map((each) => ({ ...each, action: 'payment.processing' as const }))
  const created = entries.map((each) => ({
    ...each,
    action: 'payment.create' as const,
    account_id: 'acc_own',
    after: { amount_minor: '45000' },
  }))
  expect(words(created)).toBe('You created 2 payments in the batch “Salaries”, KES 900 in total')
  expect(words(released)).toBe('2 payments in the batch “Salaries” were released for sending, KES 900 in total')
})

test.each(paymentStatuses)('payments that are %s are counted in words', (status) => {
  expect(statusCount(1, status)).toMatch(/^1 [a-z ]+$/)
  expect(statusCount(2, status)).toMatch(/^2 (?!needs)[a-z ]+$/)
})

test.each([
  ['1500', '150000'],
  ['1,500.5', '150050'],
  ['1500.', '150000'],
  ['1 500', '150000'],
  ['1.500,50', '150050'],
  ['12,500', '1250000'],
  ['12,50', null],
  ['12,5', null],
  ['1,2345', null],
  ['1.500', null],
  ['1500.555', null],
  ['-5', null],
  ['', null],
])('the typed amount “%s” is %s in minor units', (typed, minor) => {
  expect(parseMajor(typed)).toBe(minor)
  expect(parseMajor(groupDigits(typed))).toBe(minor)
})

test('only one who is not among all members is a former member; while they load, or where they cannot be read, someone', () => {
  const amina = { account_id: 'acc_1', display_name: 'Amina Otieno', email: null, wallet_address: null }
  expect(nameAmong([amina], false, 'acc_own', 'acc_1')).toBe('Amina Otieno')
  expect(nameAmong([], false, 'acc_own', 'acc_1')).toBe('someone')
  expect(nameAmong([amina], true, 'acc_own', 'acc_2')).toBe('a former member')
})

test.each([
  [
    'amount_minor: MPESA_B2C moves KES 10.00 to KES 250,000.00 at a time',
    'M-PESA to a phone moves KES 10.00 to KES 250,000.00 at a time.',
  ],
  [
    'amount_minor: must be whole units of KES for MPESA_B2C; account_reference: is required by this beneficiary',
    'The amount must be whole shillings for M-PESA to a phone; the account reference is required by this beneficiary.',
  ],
])('a person reads of “%s” a sentence without the terms of the API', (message, sentence) => {
  expect(decisionReason({ explanation: message })).toBe(sentence)
  expect(`${readableMessage(message)}.`).toBe(sentence)
})

test('a refusal for lack of the people whom a policy names is read without accounts and fields', () => {
  const words = { source: '', limit: '', used: '', requested: '', resets: '', signed: false }
  const refused = ruleOf('eligible_approvers').stops({ ...words, needed: 2, able: 1, named: ['acc_1', 'acc_2'] })
  const sentence =
    'The payment needs 2 approvals by people whom a policy names, and only 1 person of them can give one. An owner can name others in the policy.'
  expect([decisionReason({ explanation: refused }), readableMessage(refused)]).toEqual([sentence, sentence])
})

test('a refused top-up and a frozen agent are explained without minor units and grants', () => {
  expect(readableMessage('must be whole shillings: a multiple of 100 minor units')).toBe('Must be whole shillings')
  const frozen = 'The grant that initiated the payment is frozen.'
  expect(readableMessage(frozen)).toBe('The key or agent that requested the payment is frozen.')
})

test('what to look at in a list stands in sentences, with the rows that it is about', () => {
  const item = (row: number, ...warnings: string[]) => ({ index: row - 2, warnings })
  const inFile = (index: number) => index + 2
  expect(warningsOfBatch([item(2), item(3, 'name_mismatch', 'possible_duplicate')], inFile)).toBe(
    'The registered name is not verified (row 3)',
  )
  expect(
    warningsOfBatch([item(2, 'new_payee'), item(3, 'new_payee'), item(4, 'new_payee'), item(6, 'changed_payee')], inFile),
  ).toBe('No person has confirmed 3 beneficiaries (rows 2 to 4). The beneficiary was renamed a short time ago (row 6)')
  expect(warningsOfBatch([item(2, 'possible_duplicate')], inFile)).toBe('')
})
