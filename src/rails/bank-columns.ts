import { z } from 'zod'

/** Titles that banks use for statement columns, most likely first. Two columns with the same meaning are never added up. */
const titles = {
  date: `
    date, transaction date, tran date, trans date, trn date, txn date, txn dt, transaction dt, posting date, posted date,
    post date, date posted, posted on, booking date, book date, entry date, process date, processing date, payment date,
    transaction date and time, transaction date time, date and time, date time, transaction time, time
  `,
  value_date: 'value date, value dt, val date, effective date, valuedate',
  description: `
    description, narration, narrative, particulars, details, transaction details, transaction description,
    transaction narration, transaction narrative, transaction particulars, tran particulars, transaction remarks,
    payment details, description narration, customer narration, remarks, remark, memo, transaction, narration 1, narration 2,
    additional details, additional information, extended narration, comments, purpose
  `,
  reference: `
    reference, reference number, reference no, ref, ref no, ref number, transaction reference, transaction reference number,
    transaction ref, transaction ref no, transaction id, transaction no, transaction number, tran id, txn id, trans id,
    trn ref no, bank reference, bank reference number, bank ref, customer reference, customer ref, your reference,
    our reference, payment reference, external reference, receipt, receipt no, receipt number, document no, doc no, cheque no,
    cheque number, chq no, cheque, chq ref no, cheque ref no, ref cheque no, instrument id, instrument no, rrn, trace no,
    serial no
  `,
  debit: `
    debit, debits, debit amount, debit amt, debit dr, dr, dr amount, dr amt, amount debited, amount dr, withdrawal,
    withdrawals, withdrawal amount, withdrawal amt, withdrawal dr, withdrawn, money out, paid out, amount out, payments,
    payment, outflow, out
  `,
  credit: `
    credit, credits, credit amount, credit amt, credit cr, cr, cr amount, cr amt, amount credited, amount cr, deposit,
    deposits, deposit amount, deposit amt, deposit cr, lodgement, lodgements, money in, paid in, amount in, receipts,
    received, inflow, in
  `,
  amount: 'amount, amt, transaction amount, transaction amt, tran amount, trans amount, txn amount, amount dr cr',
  direction: `
    dr cr, cr dr, d c, c d, debit credit, credit debit, dr cr indicator, debit credit indicator, indicator, sign,
    transaction type, tran type, txn type, type
  `,
  balance: `
    balance, running balance, ledger balance, closing balance, book balance, account balance, available balance,
    current balance, actual balance, cleared balance, balance after, bal, balance cr dr, balance dr cr
  `,
  status: 'status, transaction status, payment status',
}

export type BankColumn = keyof typeof titles
export const bankColumnNames = Object.keys(titles) as BankColumn[]
export const bankColumns = Object.fromEntries(bankColumnNames.map((name) => [name, titles[name].trim().split(/,\s+/)])) as Record<
  BankColumn,
  string[]
>

/** Titles are compared without case, spaces, punctuation and our currency: "Withdrawal Amt. (KES)". */
export const bankTitleKey = (title: string): string =>
  title
    .slice(0, 200)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/&/g, 'and')
    .replace(/\(\s*(?:kes|kshs?|shs?)\.?\s*\)|\b(?:kes|kshs?)\b\.?/g, ' ')
    .replace(/[^\p{L}\p{N}]/gu, '')

const title = z.string().min(1)
const known = z.partialRecord(
  z.enum(bankColumnNames),
  z.union([title, z.array(title).min(1)]).transform((own) => [own].flat()),
)
const form = `must be JSON such as {"date": "Posted", "debit": "Money Gone"}: the bank's titles of ${bankColumnNames.join(', ')}, each one title or an array of titles`

/** Titles of an operator's own bank, if the titles above do not match. */
export const statementColumns = z.string().transform((text, context): z.output<typeof known> => {
  try {
    return known.parse(JSON.parse(text))
  } catch {
    context.addIssue({ code: 'custom', message: form })
    return z.NEVER
  }
})
