import type { Mutant } from './mutant.ts'

const claims = { file: 'src/modules/suspense/receipts-service.ts', suite: 'test/rails-flows/receipts.test.ts' } as const
const items = { file: 'src/modules/suspense/service.ts', suite: 'test/rails-flows/receipts.test.ts' } as const
const payouts = { file: 'src/modules/payments/settle.ts', suite: 'test/rails-flows/receipts.test.ts' } as const
const balances = {
  file: 'src/modules/exceptions/reconciliation/receive-balance.ts',
  suite: 'test/reconciliation/reconcile.test.ts',
} as const
const balanceRules = { ...balances, file: 'src/modules/exceptions/reconciliation/compare-balance.ts' } as const
const movements = {
  file: 'src/modules/exceptions/reconciliation/movements-service.ts',
  suite: 'test/reconciliation/reconcile.test.ts',
} as const

/** One receipt has one owner, in any case. The books explain the provider's charges and movements between its accounts. */
export const receiptMutants: readonly Mutant[] = [
  {
    bug: 'money that is credited stays in suspense as well',
    ...claims,
    find: '!(await endItem(tx, holder, claim))',
    replace: 'holder === undefined',
  },
  {
    bug: 'a receipt in another case is another one',
    ...claims,
    find: 'c.receipt_key = upper(x.receipt)',
    replace: 'c.receipt_key = x.receipt',
  },
  {
    bug: 'a claim is written in the case in which the receipt came',
    ...claims,
    find: 'direction, receiptKey: receiptKey(receipt), amountMinor },',
    replace: 'direction, receiptKey: receipt, amountMinor },',
  },
  {
    bug: 'holders are looked up in the case in which the receipt came',
    ...claims,
    find: '{receiptKey(receipt)}`\n\nconst forms',
    replace: '{receipt}`\n\nconst forms',
  },
  {
    bug: 'two processes claim a receipt at the same moment',
    ...claims,
    find: 'lockNames(tx, ...locks),',
    replace: 'Promise.resolve(locks),',
  },
  {
    bug: 'a claim takes the receipt of credited money',
    ...claims,
    find: "case when t.owner_kind = 'suspense' or t.owner_id = excluded.owner_id then excluded.owner_id end`",
    replace: 'excluded.owner_id`',
  },
  {
    bug: 'an item in suspense is given up for another amount',
    ...claims,
    find: "owner.kind !== 'suspense' && holder.amountMinor === amountMinor",
    replace: "owner.kind !== 'suspense' && holder.amountMinor !== null && amountMinor !== null",
  },
  {
    bug: 'a second amount of a deposit that was told before leaves no trace',
    ...claims,
    file: 'src/modules/deposits/deposit.ts',
    find: 'if (holder.amountMinor === null || holder.amountMinor === amountMinor) return undefined',
    replace: "if (holder.kind === 'deposit') return undefined",
  },
  {
    bug: 'what was assigned or reversed has no receipt any more',
    ...claims,
    find: "outcome === 'explained'\n",
    replace: 'outcome !== null\n',
  },
  {
    bug: 'no one is told of a second amount under a known receipt',
    ...claims,
    find: 'if (amountMinor === null || known === null || amountMinor === known) return',
    replace: 'if (amountMinor !== known) return',
  },
  {
    bug: 'a receipt that a release before credited is free',
    ...claims,
    find: 'and t.deposit_code is null',
    replace: 'and t.deposit_code is null and false',
  },
  {
    bug: 'what came back of a payment takes the receipt of money that came in',
    ...claims,
    find: "direction === 'in' && subjectKind === 'payment' ? 'return' : direction",
    replace: 'direction',
  },
  {
    bug: 'a second amount under one receipt is booked',
    ...items,
    find: '{ ...row, transferId: null }',
    replace: 'row',
  },
  {
    bug: 'an item whose receipt was credited is assigned',
    ...items,
    find: 'if (holder && !allowTakenReceipt) throw receiptTaken',
    replace: 'if (holder && allowTakenReceipt) throw receiptTaken',
  },
  {
    bug: 'two findings of one call have the same receipt',
    ...items,
    find: 'else if (!keys.has(key)) names.set(row.id, name)',
    replace: 'else names.set(row.id, name)',
  },
  {
    bug: 'a return has the direction of its payout',
    ...payouts,
    find: "...claimFor('return', known ?? receipt)",
    replace: "...claimFor('out', known ?? receipt)",
  },
  {
    bug: 'a receipt that something else has pays for a payment',
    ...payouts,
    find: '(taken.has(each.step.payment.id) ? judge(each.step, true) : each)',
    replace: 'each',
  },
  {
    bug: "a provider's charges are taken for lost money",
    ...balances,
    find: "holdsCharges ? 'charges' : 'money'",
    replace: "holdsCharges ? 'money' : 'money'",
  },
  {
    bug: 'the account of charges is one of money',
    ...balances,
    file: 'src/rails/daraja/adapter.ts',
    find: 'holdsCharges: /^charges\\b/i.test(account.trim())',
    replace: 'holdsCharges: false',
  },
  {
    bug: 'a settlement of charges counts as charges given back',
    ...balanceRules,
    find: "sumOf(movements.filter(({ kind }) => kind !== 'bank_transfer'))",
    replace: '0n',
  },
  {
    bug: "a transfer to the bank counts as the provider's charges",
    ...balanceRules,
    find: "sumOf(movements.filter(({ kind }) => kind !== 'bank_transfer'))",
    replace: 'sumOf(movements)',
  },
  {
    bug: 'a comparison does not know the movements that were named',
    ...balances,
    find: 'expectedMoney(baseline, reading, sumOf(movements))',
    replace: 'expectedMoney(baseline, reading, 0n)',
  },
  {
    bug: 'a named movement explains every comparison that follows',
    ...balances,
    find: '  markCounted(tx, run.id, movements)\n',
    replace: '',
  },
  {
    bug: 'unexplained money is counted as charges',
    ...balanceRules,
    find: '(baseline.chargesMinor === null && chargesMinor < 0n ? chargesMinor : 0n)',
    replace: '(chargesMinor < 0n ? chargesMinor : 0n)',
  },
  {
    bug: 'the charges that an earlier release had summed up are a difference',
    ...balanceRules,
    find: '(baseline.chargesMinor === null && chargesMinor < 0n ? chargesMinor : 0n)',
    replace: '0n',
  },
  {
    bug: 'a transfer to the bank is one from it',
    ...movements,
    find: "direction === 'in' ? input.amount_minor : -input.amount_minor",
    replace: 'input.amount_minor',
  },
  {
    bug: 'a part of a difference explains all of it',
    ...movements,
    find: 'since })) === (statedMinor ?? 0n) - (bookedMinor ?? 0n)',
    replace: 'since })) !== 0n',
  },
  {
    bug: 'a statement line that a person has named as a movement is a difference',
    ...movements,
    find: 'amounts.get(receiptKey(receipt)) === amountMinor',
    replace: 'amounts.get(receiptKey(receipt)) === undefined',
  },
  {
    bug: 'another amount under the receipt of a named movement agrees',
    ...movements,
    find: 'amounts.get(receiptKey(receipt)) === amountMinor',
    replace: 'amounts.has(receiptKey(receipt)) && amountMinor !== 0n',
  },
  {
    bug: 'what is booked already is named as our own movement',
    ...movements,
    find: '  if (holder) throw receiptTaken(receipt, holder)\n',
    replace: '',
  },
]
