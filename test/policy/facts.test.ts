import { describe, expect, test } from 'vitest'
import type { WireWarning } from '../../src/lib/approval-facts.ts'
import { factItemText, factSentences, factShort, factTitle, factTypes, namesSummary } from '../../src/lib/approval-facts.ts'
import { approvalMessage, batchApprovalMessage } from '../../src/modules/payments/approvals/message.ts'
import { type FactLine, factsOf } from '../../src/policy/facts.ts'

const at = new Date('2026-11-20T08:00:00Z')
const by = { account_id: 'a', grant_id: 'g', label: 'Bot' }
/** One of each warning. A new one does not compile until it is here. */
const warnings: { readonly [Code in WireWarning['code']]: Extract<WireWarning, { code: Code }> } = {
  possible_duplicate: { code: 'possible_duplicate', payment_id: 'pay_1', created_at: at.toISOString() },
  name_differs: { code: 'name_differs', given_name: 'Amani' },
  new_payee: { code: 'new_payee', by, at: at.toISOString() },
  changed_payee: { code: 'changed_payee', by, at: at.toISOString() },
  similar_name: { code: 'similar_name', name: 'Aminah' },
  name_mismatch: { code: 'name_mismatch', verification: 'no_match', name: 'BRIAN' },
  unusual_amount: { code: 'unusual_amount', typical_amount_minor: '100' },
}
const line = (changes: Partial<FactLine> = {}, key = 'b'): FactLine => ({
  beneficiaryId: key,
  payeeId: key,
  payeeName: 'Amina',
  amountMinor: 120_000n,
  warnings: [],
  verification: 'match',
  reportedName: 'AMINA',
  isFirst: false,
  lastAmountMinor: 120_000n,
  ...changes,
})
const common = {
  domain: 'localhost',
  approvalId: '018f0000-0000-7000-8000-000000000001',
  currency: 'KES',
  requester: 'Wanjiku',
  workspace: 'Office',
  sharedBalance: false,
  approverNames: [],
  policyVersions: [],
  nonce: 'n',
  executeAt: null,
  expiresAt: at,
} as const
const textOf = (lines: readonly FactLine[], feesMinor: bigint | null = null): string =>
  batchApprovalMessage('approve', {
    ...common,
    batchId: common.approvalId,
    name: null,
    merkleRoot: 'root',
    feesMinor,
    lines: lines.map((one) => ({ ...one, rail: 'MPESA_B2C', destinationMask: '*1', nameSource: 'lookup' as const })),
    facts: factsOf(lines),
  })

describe('every warning of a decision', () => {
  const mismatched = (warning: WireWarning) =>
    warning.code === 'name_mismatch' ? { verification: 'no_match' as const, reportedName: 'BRIAN' } : {}

  test.each(Object.values(warnings))(
    '$code is a fact with words, of a payment and in a batch, and in the text of the batch',
    (warning) => {
      const odd = line({ warnings: [warning], ...mismatched(warning) })
      const [alone] = factsOf([odd])
      expect(alone).toMatchObject({ type: warning.code, count: 1, items: [{ beneficiary: 'Amina', amount_minor: '120000' }] })
      expect(alone?.level).toBe(warning.code === 'name_mismatch' ? 'danger' : 'warning')
      const others = [line({}, 'c'), line({}, 'd')]
      const [first] = factsOf([...others, odd])
      expect(first).toMatchObject({ type: warning.code, count: 1, items: [{ beneficiary: 'Amina' }] })
      if (!first || !alone) throw new Error('no fact')
      expect(factSentences([first], 3, 'KES')[0]).toContain('"Amina": ')
      expect(factSentences([alone], 1, 'KES')[0]?.startsWith(factTitle(alone, 1))).toBe(true)
      const text = textOf([...others, odd])
      if (warning.code === 'name_mismatch') expect(text).toContain('- Amina: BRIAN (DOES NOT MATCH), KES 1,200.00')
      else
        expect(text).toContain(
          `\nWarning: ${factTitle(first, 3)}\n- ${factItemText(first, first.items[0] as never, (minor) => `KES ${Number(minor) / 100}`).split(':')[0]}`,
        )
    },
  )
})

test('the heaviest comes first, and what is true of all payments is no deviation', () => {
  const lines = [
    line({ isFirst: true, warnings: [warnings.possible_duplicate, warnings.new_payee, warnings.unusual_amount] }, 'a'),
    line(
      { isFirst: true, warnings: [warnings.similar_name, warnings.new_payee], verification: 'no_match', reportedName: 'X' },
      'b',
    ),
    line({ isFirst: true, warnings: [warnings.name_differs, warnings.new_payee], payeeId: 'a', lastAmountMinor: 1n }, 'c'),
  ]
  const facts = factsOf(lines)
  const told = [
    'name_mismatch',
    'shared_number',
    'name_differs',
    'similar_name',
    'unusual_amount',
    'far_from_last',
    'possible_duplicate',
  ]
  expect(facts.filter(({ level }) => level !== 'info').map(({ type }) => type)).toEqual(told)
  expect(facts.find(({ type }) => type === 'new_payee')).toEqual({ type: 'new_payee', level: 'info', count: 3, items: [] })
  expect(facts.map(({ type }) => factTypes.indexOf(type))).toEqual(
    facts.map(({ type }) => factTypes.indexOf(type)).toSorted((a, b) => a - b),
  )
})

test('a warning about every payment of a batch of a thousand is told with its first ten, unless it is usual of all', () => {
  const lines = Array.from({ length: 1_000 }, (_, n) => line({ isFirst: true, warnings: Object.values(warnings) }, `b${n}`))
  const text = textOf(lines)
  for (const title of [/1,000 beneficiaries other names/, /1,000 names look/, /1,000 beneficiaries were renamed/])
    expect(text).toMatch(new RegExp(`\nWarning: .*${title.source}.*\n(- .*\n){10}[^-]`))
  expect(text).not.toMatch(/No person has confirmed|first to their destination/)
  expect(text.length).toBeLessThan(6_000)
})

test('the names of a batch are counted by what the rail reports', () => {
  const of = (verification: FactLine['verification'], count: number, key: string) =>
    Array.from({ length: count }, (_, index) => line({ verification }, `${key}${index}`))
  const lines = [
    ...of('no_match', 1, 'a'),
    ...of('close_match', 3, 'b'),
    ...of('unverified', 600, 'c'),
    ...of('unavailable', 390, 'd'),
    ...of('match', 6, 'e'),
  ]
  const words = 'Names: 1 differs, 3 similar, 990 not verified, 6 match'
  expect(namesSummary(factsOf(lines), lines.length)).toBe(words)
  expect(textOf(lines)).toContain(`\n${words}\n`)
})

test('a fee, a shared balance and the only approvers stand in the text where there are any', () => {
  expect(textOf([line()])).not.toMatch(/\nFees:|Only these people/)
  expect(textOf([line()], 3000n)).toContain('\nFees: KES 30.00\n')
  const facts = {
    ...common,
    paymentId: common.approvalId,
    amountMinor: 1n,
    beneficiaryName: 'A',
    rail: 'MPESA_B2C',
    destinationMask: '*1',
  }
  const more = {
    destinationDigest: 'd',
    warnings: [],
    accountReference: null,
    narrative: null,
    reportedName: null,
    nameSource: null,
  }
  const text = approvalMessage('approve', {
    ...{ ...facts, ...more, verification: 'unverified', feeMinor: 2500n },
    ...{ sharedBalance: true, approverNames: ['Amina', 'Evil" may'] },
  })
  expect(text).toContain('\nFee: KES 25.00\n')
  expect(text).toContain(
    `\nPaid from: the balance shared with the owner's account\nOnly these people may decide: "Amina", "Evil' may"\n`,
  )
})

test.each(factTypes)('%s has words for a row and a title; of one in a batch they are in the singular', (type) => {
  expect(factShort({ type, items: [] })).not.toBe('')
  for (const of of [1, 9]) expect(factTitle({ type, count: of, items: [] }, of)).not.toBe('')
  const [one, two] = [1, 2].map((count) => factTitle({ type, count, items: [] }, 9))
  expect(one).not.toMatch(/\b1 (\w+s|are|have|match)\b/)
  expect(one?.replace('1', '2')).not.toBe(two)
})
