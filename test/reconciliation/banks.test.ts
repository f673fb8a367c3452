import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config.ts'
import { reconcileStatement } from '../../src/modules/exceptions/reconciliation/service.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { statementColumns } from '../../src/rails/bank-columns.ts'
import { type Administered, startAdministered } from '../admin/administrators.ts'
import { credit } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { readStatement } from '../harness/read-statement.ts'
import { findBreaches } from '../harness/verify.ts'
import { balanceOf, deliver, lastOrder, movementsTo, pass, pay, paymentOf, transferCallback } from '../rails-flows/scene.ts'

// A bank's own file of the account: what its titles, dates and amounts mean. Sources, in plain words: (a) the comments and samples of a rent
// collector's importers for Equity, KCB, Co-operative and NCBA; (b) a welfare association's importer of KCB account statements; (c) an accounting
// program's readers of Kenyan banks (Equity, KCB, Co-operative, Absa, Stanbic); (d) a detector of banks by their titles (Stanbic, UBA, Access,
// GTBank); (e) a list of titles by bank of an online converter (Absa, Standard Bank and others); (f) importers of files that Finacle exports, as I&M and
// DTB use it.

const out = [['2026-11-28', -12_345]]
const read = (text: string, columns = {}) => {
  const statement = readStatement(text, columns)
  if ('problem' in statement) return statement.problem
  const nairobi = (at: Date) => new Date(at.getTime() + 3 * 3_600_000).toISOString()
  return statement.lines.map(({ at, until, amountMinor, words = [] }) => {
    expect([statement.provider, words]).toEqual(['PESALINK', expect.arrayContaining(['PLX1'])])
    return [nairobi(at).slice(0, until ? 10 : 16), Number(amountMinor) / 100]
  })
}

test.each<[source: string, titles: string, row: string, lines?: typeof out]>([
  ['Equity (a)', '"Date","Description","Debit","Credit","Balance"', '"28/11/2026","PESALINK PLX1","12,345.00","","85,000.00"'],
  [
    'KCB (a)',
    'Transaction Date,Value Date,Description,Debit,Credit,Running Balance',
    '28/11/2026,29/11/2026,PESALINK PLX1,"12,345.00",,1.00',
  ],
  [
    'KCB account statement (b)',
    'Transaction Date,Value Date,Transaction Details,Money Out,Money In,Ledger Balance,Bank Reference Number',
    '28.11.2026,28.11.2026,PESALINK PLX1 JANE /,"12,345.00",0.00,"1,000.00",FT25091AAAA1',
  ],
  [
    'KCB on the web (b)',
    'TXN DATE,DESCRIPTION,VALUE DATE,MONEY OUT,MONEY IN,LEDGER BALANCE',
    '28.11.2026,PLX1,28.11.2026,12345,0,1',
  ],
  ['Co-operative (a)', 'Date,Transaction Details,Withdrawals,Deposits,Balance', '28/11/2026,PESALINK-PLX1,"12,345.00",,1.00'],
  ['NCBA (a)', 'Date,Narration,Debits,Credits,Balance', '28-Nov-2026,PESALINK/PLX1/A BANK,"12,345.00",-,1.00'],
  ['Absa (e)', 'Date,Transaction Description,Amount,Balance', '28 Nov 2026,PESALINK PLX1,"-12,345.00",1.00'],
  ['Absa with charges (e)', 'Date,Transaction Description,Charge,Debit Amount,Credit Amount,Balance', '28/11/26,PLX1,,12345,,1'],
  ['Stanbic (d)', 'Date,Debit,Credit,Description,Reference,Balance', '28-11-26,"12,345.00",,PESALINK,PLX1,1.00'],
  ['Standard Bank (e)', 'Date;Description;Payments;Deposits;Balance', '2026-11-28;PESALINK PLX1;12.345,00;;1,00'],
  ['UBA (d)', 'Tran Date,Tran Type,Tran Amount,Tran Particulars,Running Balance', '28/11/2026,D,"12,345.00",PESALINK PLX1,1.00'],
  ['GTBank (d)', 'TRANS. DATE,REFERENCE,DEBIT,CREDIT,BALANCE,TRANSACTION DETAILS', '28/11/2026,PLX1,"12,345.00",,1.00,PESALINK'],
  ['Access (d)', 'Transaction Date,Debit Amount,Credit Amount,Transaction Description,Balance', '28/11/2026,12345,0,PLX1,1'],
  [
    'Finacle: I&M, DTB (f)',
    'Tran Date\tValue Date\tTran Particulars\tInstrument Id\tWithdrawal Amt. (KES)\tDeposit Amt. (KES)\tBalance',
    '28-11-2026\t28-11-2026\tPESALINK/PLX1\t\tKES 12,345.00\t\t1.00 CR',
  ],
  ['an amount with DR (c)', 'Value Date,Particulars,Amount', '28/11/2026,PESALINK PLX1,"12,345.00 Dr"'],
  ['an amount beside DR or CR (f)', 'Transaction Date,Remarks,Amount,DR/CR', '28/11/2026,PLX1,"12,345.00",DR'],
  [
    'cents without commas, a two-digit year with AM or PM (c)',
    'Date & Time,Narrative,Dr,Cr',
    '28/11/26 02:33 PM,PLX1,12345.00,',
    [['2026-11-28T14:33', -12_345]],
  ],
  [
    'money that came in',
    'Date,Details,Money Out,Money In,Balance',
    '28/11/2026,PLX1,0.00,"12,345.00",1.00',
    [['2026-11-28', 12_345]],
  ],
])('the statement of %s is read', (_source, titles, row, lines = out) => {
  expect(read(`${titles}\n${row}\n`)).toEqual(lines)
  expect(read(`AN ACCOUNT STATEMENT\nCurrency: KES\n\n${titles}\n${row}\n${titles}\n`)).toEqual(lines)
})

test.each([
  ['an opening balance', '01/11/2026,OPENING BALANCE,,,"97,345.00"'],
  ['a balance brought forward, of nothing', '01/11/2026,BALANCE B/FWD,0.00,0.00,"97,345.00"'],
  ['a balance as at a day', '01/11/2026,Balance as at 01/11/2026,,,"97,345.00"'],
  ['a balance that stands under credit', '01/11/2026,B/F,,"97,345.00","97,345.00"'],
  ['totals', ',Totals,"12,345.00",0.00,'],
  ['a closing balance', 'Closing Balance,,,,"85,000.00"'],
  ['a sentence', '*** End of statement ***,,,,'],
])('%s is no movement', (_name, row) => {
  const [titles, line] = ['Date,Description,Debit,Credit,Balance', '28/11/2026,PESALINK PLX1,"12,345.00",,"85,000.00"']
  expect(read(`${titles}\n${row}\n${line}\n`)).toEqual(out)
  expect(read(`${titles}\n${line}\n${row}\n`)).toEqual(out)
})

test.each([
  ['an amount that says no direction', 'Date,Details,Amount\n28/11/2026,PLX1,10.00', /line 2 .*came in or went out/],
  [
    'a credit in the debit column',
    'Date,Details,Debit,Credit\n28/11/2026,PLX1,10.00 CR,',
    /line 2 .*not an amount of its column/,
  ],
  ['a negative credit', 'Date,Details,Amount,Type\n28/11/2026,PLX1,-10.00,CR', /line 2 .*negative, and called a credit/],
  ['a month before its day', 'Date,Details,Debit,Credit\n11/28/2026,PLX1,10.00,', /line 2 .*no time that exists/],
  ['a year that may stand first', 'Date,Details,Debit,Credit\n11-03-05,PLX1,10.00,', /line 2 .*no time that exists/],
  ['another currency', 'Date,Details,Debit,Credit\n28/11/2026,PLX1,USD 10.00,', /line 2 .*not an amount/],
  ['neither debit nor credit', 'Date,Details,Debit,Credit\n28/11/2026,PLX1,,', /line 2 .*no amount/],
])('%s is refused by its line', (_name, text, problem) => expect(read(text)).toMatch(problem))

test('other titles are named with what they lack, and the setting STATEMENT_COLUMNS says what they mean', () => {
  const text = 'An account\nPosted When,Memo Line,Gone,Come\n28/11/2026,PESALINK PLX1,"12,345.00",\n'
  expect(read(text)).toMatch(
    /line 2 with the titles "Posted When", "Memo Line", "Gone", "Come", which lack: date; description; debit and credit/,
  )
  expect(read(text.replace('Gone', 'Debit'))).toMatch(/lack: date; description; credit\. .*STATEMENT_COLUMNS/)
  const said = '{"date": "posted when", "description": ["Memo Line"], "debit": "GONE", "credit": "Come"}'
  expect(read(text, statementColumns.parse(said))).toEqual(out)
  // A known title means something else if the bank says so.
  expect(read(text.replace('Memo Line', 'Date'), statementColumns.parse(said.replace('Memo Line', 'Date')))).toEqual(out)
  for (const wrong of ['Posted', '["date"]', '{"day": "Posted"}', '{"date": 1}'])
    expect(() => loadConfig({ STATEMENT_COLUMNS: wrong })).toThrow(/STATEMENT_COLUMNS: must be JSON such as/)
})

let administered: Administered
let person: Person
beforeAll(async () => {
  administered = await startAdministered()
  person = await signIn(administered.service.api)
  await credit(administered.service, person.accountId, 100_000_000n)
})
afterAll(async () => {
  await pass(administered.service, 1)
  expect(await findBreaches(administered.service)).toEqual([])
  await administered.service.close()
})

test("PesaLink is reconciled with the bank's own file: by a receipt or our reference in a description, with its charges", async () => {
  const { service, admin } = administered
  const to = (destination: string) => pay(person, { payment_rail: 'PESALINK', destination, bank_code: '57' })
  const destinations = ['0123456701', '0123456702', '0123456703']
  for (const destination of destinations) await to(destination)
  await service.settle()
  service.sandbox.rules.add({ effect: 'lose_callback', times: 1, delay_ms: 0 })
  service.sandbox.failNext({ kind: 'reset', takesEffect: true })
  const lost = await to('0123456704')
  await service.settle()
  service.sandbox.rules.add({ effect: 'outage', rail: 'PESALINK', times: null, delay_ms: 0 })
  const day = service.clock.now().toISOString().slice(0, 10).split('-').reverse().join('/')
  const movementOf = (destination: string) => {
    const [movement] = movementsTo(service, destination)
    if (!movement) throw new Error('nothing moved')
    return movement
  }
  const [one, two] = [movementOf('0123456701'), movementOf('0123456702')]
  const unknown = movementOf('0123456704')
  await pass(service, 2 * 86_400)
  const upload = (rows: string[]) =>
    admin.api.post('/v1/admin/reconciliations', {
      source: 'bank.csv',
      statement: `Date,Description,Debit,Credit,Balance\n${rows.map((row) => `${day},${row}`).join('\n')}\n`,
    })
  const rows = [
    `PESALINK ${one.receipt} AT A BANK,"1,500.00",,"85,000.00"`,
    `PESALINK CHARGE ${one.receipt},35.00,,"84,965.00"`,
    `TRF/${two.reference}/0123456702,"1,500.00",,"83,465.00"`,
    'OFFICE RENT 2026,900.00,,"82,565.00"',
  ]
  const answer = await upload(rows)
  expect([answer.status, answer.body.matched, answer.body.charges_minor]).toEqual([201, 2, '-3500'])
  const { data } = (await admin.api.get('/v1/admin/reconciliation-differences?status=open')).body
  expect(
    data.map(({ kind, stated_minor, booked_minor }: Record<string, unknown>) => [kind, stated_minor ?? booked_minor]),
  ).toEqual(
    expect.arrayContaining([
      ['not_in_our_books', '-90000'],
      ['not_in_statement', '-150000'],
    ]),
  )
  expect(data.find(({ kind }: Record<string, unknown>) => kind === 'not_in_our_books')).toMatchObject({
    provider_receipt: null,
    reason: expect.stringContaining('"OFFICE RENT 2026"'),
    action: expect.stringContaining('Nothing was booked'),
  })
  // An upload proves nothing. The command on the server takes the same line as evidence.
  expect(await paymentOf(person, lost)).toMatchObject({ status: 'unknown' })
  const text = `Date,Description,Amount,Balance\n${day},${unknown.reference} A BANK,"-1,500.00",1.00\n`
  await reconcileStatement(service.deps, shellOperator('a test'), { source: 'bank.csv', text })
  expect(await paymentOf(person, lost)).toMatchObject({ status: 'succeeded' })
})

describe('a transfer that the bank has sent back', () => {
  beforeAll(() => administered.service.sandbox.rules.clear())
  const transfer = async (destination: string) => {
    const { service } = administered
    const before = await balanceOf(person)
    const id = await pay(person, { payment_rail: 'PESALINK', destination, bank_code: '57' })
    await service.settle()
    expect((await paymentOf(person, id)).status).toBe('succeeded')
    const [day = ''] = service.clock.now().toISOString().split('T')
    const { receipt } = lastOrder(service)
    const out = `${day},PESALINK ${receipt},"1,500.00",`
    return { id, before, out, back: `${day},REV PESALINK ${receipt},,"1,500.00"` }
  }
  const reconcile = (...rows: string[]) =>
    reconcileStatement(administered.service.deps, shellOperator('a test'), {
      source: 'bank.csv',
      text: `Date,Description,Debit,Credit\n${rows.join('\n')}\n`,
    })
  const differencesOf = async (payment: string) => {
    const { body } = await administered.admin.api.get('/v1/admin/reconciliation-differences?limit=100')
    return body.data
      .filter(({ payment_id }: { payment_id: string | null }) => payment_id === payment)
      .map(({ kind, resolved_at }: { kind: string; resolved_at: string | null }) => [kind, resolved_at !== null])
  }

  test('and that is booked as returned matches both lines, or one of them, and is no difference', async () => {
    const { service } = administered
    const { id, before, out, back } = await transfer('0123456711')
    await deliver(lastOrder(service).resultUrl, transferCallback(lastOrder(service), { state: 'Reversed' }))
    await service.settle()
    expect((await paymentOf(person, id)).status).toBe('returned')
    service.log.length = 0
    expect(await reconcile(out, back)).toMatchObject({ lines: 2, matched: 2, totals: { booked_minor: '0', stated_minor: '0' } })
    expect(await reconcile(back)).toMatchObject({ lines: 1, matched: 1, totals: { booked_minor: '150000' } })
    expect(await differencesOf(id)).toEqual([])
    expect(await balanceOf(person)).toEqual(before)
  })

  test.each([
    ['with its payment', '0123456712', (out: string, back: string) => [[out, back]]],
    ['in a later file, without its payment', '0123456713', (out: string, back: string) => [[out], [back], [out, back]]],
  ])('is given back once when the file lists it %s', async (_, destination, filesOf) => {
    const { id, before, out, back } = await transfer(destination)
    for (const rows of filesOf(out, back)) await reconcile(...rows)
    expect((await paymentOf(person, id)).status).toBe('returned')
    expect(await balanceOf(person)).toEqual(before)
    expect(await differencesOf(id)).toEqual([['reversed', true]])
  })
})
