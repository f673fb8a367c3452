import { describe, expect, test } from 'vitest'
import type { AnyRail } from '../../src/lib/rail-names.ts'
import { textOfFile } from '../../src/lib/table-file.ts'
import type { Booked } from '../../src/modules/exceptions/reconciliation/booking-index.ts'
import { match } from '../../src/modules/exceptions/reconciliation/matching-rules.ts'
import { readStatement } from '../harness/read-statement.ts'

// The forms of statements that portals and banks export, after public samples, with each one's meaning.

const columns =
  'Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,Balance,Other Party Info,Linked Transaction ID,A/C No.'
const read = (text: string) => {
  const statement = readStatement(text)
  if ('problem' in statement) return statement.problem
  return statement.lines.map(({ receipt, at, until, amountMinor }) => [
    receipt,
    `${at.toISOString().slice(0, 16)}${until ? ' all day' : ''}`,
    Number(amountMinor) / 100,
  ])
}
const cell = (text: string) => (/[",]/.test(text) ? `"${text}"` : text)
const line = (time: string, paidIn: string, withdrawn: string) =>
  `${columns}\nUKA0000001,${cell(time)},Pay Bill,Completed,${cell(paidIn)},${cell(withdrawn)},,,,\n`

describe('a time', () => {
  const forms: Record<string, string> = {
    '2026-03-04 14:33:07': '2026-03-04T11:33',
    '2026-03-04T14:33:07': '2026-03-04T11:33',
    '2026-03-04T14:33:07.123Z': '2026-03-04T14:33',
    '2026-03-04 14:33:07+03:00': '2026-03-04T11:33',
    '04-03-2026 14:33:07': '2026-03-04T11:33',
    '04/03/2026 14:33': '2026-03-04T11:33',
    '4/3/2026 2:33 PM': '2026-03-04T11:33',
    '04.03.2026 02:33:07 pm': '2026-03-04T11:33',
    '2026-03-04 02:33 p.m.': '2026-03-04T11:33',
    '2026-03-04 12:10 AM': '2026-03-03T21:10',
    '2026-03-04 12:10 PM': '2026-03-04T09:10',
    '04-Mar-2026 14:33:07': '2026-03-04T11:33',
    '4 March 2026, 14:33': '2026-03-04T11:33',
    '20260304143307': '2026-03-04T11:33',
    '2026-03-04': '2026-03-03T21:00 all day',
    '04/03/2026': '2026-03-03T21:00 all day',
  }
  test.each(Object.entries(forms))('%s', (form, at) => {
    expect(read(line(form, '10.00', ''))).toEqual([['UKA0000001', at, 10]])
  })
  test.each([
    '31-02-2026 10:00:00',
    '2026-13-01 10:00:00',
    '03/26/2026 10:00',
    '2026-03-04 14:33 PM',
    '2026-03-04 25:00:00',
    '2026-03-04 10:00:00+25:00',
    '04-03-26',
    '0001-01-01 00:00:00',
    '01/01/1970',
    'yesterday',
    '46085.5',
    '2026-03-04 10:00:00 x',
    '',
  ])('"%s" is refused by line, with the forms that are read', (form) => {
    expect(read(line(form, '10.00', ''))).toMatch(/^line 2 cannot be read: .*no time that exists: expected 2026-03-31 14:05:00/)
  })
})

describe('an amount', () => {
  const forms: [paidIn: string, withdrawn: string, amount: number][] = [
    ['1500', '', 1500],
    ['1,500.00', '', 1500],
    ['1500.5', '', 1500.5],
    ['1 500.00', '', 1500],
    ['1\u00a0500,00', '', 1500],
    ['1.500,00', '', 1500],
    ["1'500.00", '', 1500],
    ['1500,50', '', 1500.5],
    ['12,345,678.90', '', 12_345_678.9],
    ['1.234.567', '', 1_234_567],
    ['KES 1,500.00', '', 1500],
    ['1,500.00 KES', '0.00', 1500],
    ['', '1,500.00', -1500],
    ['', '-1,500.00', -1500],
    ['', '(1,500.00)', -1500],
    ['', '1,500.00-', -1500],
    ['0.00', '\u22121500.00', -1500],
    ['-500.00', '', -500],
    ['(500.00)', '0', -500],
    ['-', '20.00', -20],
  ]
  test.each(forms)('paid in "%s", withdrawn "%s"', (paidIn, withdrawn, amount) => {
    expect(read(line('2026-03-04 14:33:07', paidIn, withdrawn))).toEqual([['UKA0000001', '2026-03-04T11:33', amount]])
  })
  test.each([
    ['ten', '', /"ten" is not an amount: expected 1500.00/],
    ['1.500', '', /"1.500" is not an amount/],
    ['1,50,000.00', '', /is not an amount/],
    ['--500', '', /is not an amount/],
    ['(-500)', '', /is not an amount/],
    ['1e3', '', /is not an amount/],
    ['USD 10', '', /is not an amount/],
    ['', '', /it has no amount/],
    ['10.00', '20.00', /came in and one that went out/],
  ])('paid in "%s", withdrawn "%s" is refused by line, with what was expected', (paidIn, withdrawn, problem) => {
    const said = read(line('2026-03-04 14:33:07', paidIn, withdrawn))
    expect(said).toMatch(/^line 2 cannot be read/)
    expect(said).toMatch(problem)
  })
  test('a column of what went out in both signs is refused: in some exports minus means out, in others back', () => {
    const both = `${line('2026-03-04 14:33:07', '', '20.00')}UKA0000002,2026-03-04 14:33:07,Pay Bill,Completed,,-20.00,,,,\n`
    expect(read(both)).toMatch(/^line 3: .*both signs/)
  })
})

describe('a file', () => {
  const rows = [
    ['Short Code:', '600998'],
    ['Receipt No.', 'Completion Time', 'Details', 'Transaction Status', 'Paid In', 'Withdrawn', 'Other Party Info', 'A/C No.'],
    [
      'UKA0000B26',
      '2026-11-26 14:50:19',
      'Pay Bill from 254***000, 526721514173',
      'Completed',
      '1,500.00',
      '',
      '254***000',
      '526721514173',
    ],
  ]
  const written = (separator: string, end = '\n') =>
    rows.map((row) => row.map((each) => (/[,;]/.test(each) ? `"${each}"` : each)).join(separator)).join(end)
  const utf16 = (text: string, order: 'le' | 'be') => {
    const bytes = Buffer.from(`\ufeff${text}`, 'utf16le')
    return order === 'le' ? bytes : bytes.swap16()
  }
  test.each<[string, Buffer]>([
    ['with commas', Buffer.from(written(','))],
    ['with semicolons', Buffer.from(written(';'))],
    ['with tabs', Buffer.from(written('\t', '\r\n'))],
    ['with its separator named', Buffer.from(`sep=;\r\n${written(';', '\r\n')}`)],
    ['with a byte order mark', Buffer.from(`\ufeff${written(',')}`)],
    ['in UTF-16, little end first', utf16(written('\t'), 'le')],
    ['in UTF-16, big end first', utf16(written(','), 'be')],
  ])('%s', (_name, bytes) => {
    const text = textOfFile(bytes)
    if (typeof text !== 'string') throw new Error(text.problem)
    expect(read(text)).toEqual([['UKA0000B26', '2026-11-26T11:50', 1500]])
  })
  test('that is a workbook is refused with what to save it as', () => {
    expect(textOfFile(Buffer.from('504b030414000600', 'hex'))).toEqual({ problem: expect.stringMatching(/workbook .*CSV UTF-8/) })
  })
  test('with a separator inside an amount that is not quoted is refused by line', () => {
    expect(read(written(',').replace('"1,500.00"', '1,500.00'))).toMatch(/^line 3 cannot be read: 9 cells, 8 columns/)
  })
})

describe('rows that are no movements', () => {
  const body = 'UKA0000001,2026-03-04 14:33:07,Pay Bill,Completed,10.00,,,,,'
  test.each([
    ['a total', 'Total,,,,10.00,0.00,,,,'],
    ['a grand total in the second cell', ',Grand Total:,,,"1,010.00",,,,,'],
    ['a closing balance', 'Closing Balance,,,,,,5000.00,,,'],
    ['a page number', 'Page 1 of 3'],
    ['a sentence', 'Disclaimer: this record is made by a computer.'],
    ['a row of stars', '***'],
    ['the columns again', columns],
    ['an empty row', ',,,,,,,,,'],
    ['a line of nothing', 'UKA0000009,2026-03-04 14:33:07,Change of PIN,Completed,0.00,0.00,,,,'],
    ['a movement that failed', 'UKA0000009,2026-03-04 14:33:07,Pay Bill,Failed,,-20.00,,,,'],
  ])('%s is left out', (_name, row) => {
    expect(read(`${columns}\n${body}\n${row}\n`)).toEqual([['UKA0000001', '2026-03-04T11:33', 10]])
    expect(read(`${columns}\n${row}\n${body}\n`)).toEqual([['UKA0000001', '2026-03-04T11:33', 10]])
  })
  test.each([
    ['an amount without a time', 'UKA0000002,,Pay Bill,Completed,10.00,,,,,'],
    ['an amount under words that are not known', 'Carried over,,,,10.00,,,,,'],
    ['a receipt alone', 'UKA0000002,,,,,,,,,'],
    ['an amount without a receipt', ',2026-03-04 14:33:07,Pay Bill,Completed,10.00,,,,,'],
  ])('%s is refused by its line in the file, blank lines counted', (_name, row) => {
    expect(read(`Short Code:,600998\n\n\n${columns}\n${body}\n${row}\n`)).toMatch(/^line 6 cannot be read/)
  })
})

describe('the lines above the columns', () => {
  const headingOf = (...rows: string[]) => {
    const statement = readStatement(`${rows.join('\n')}\n${line('2026-03-04 14:33:07', '10.00', '')}`)
    if ('problem' in statement) throw new Error(statement.problem)
    const { number, account, period } = statement.heading
    const minute = (at?: Date) => at?.toISOString().slice(0, 16) ?? null
    return [number, account, minute(period.start), minute(period.end)]
  }
  test.each([
    [['Short Code:,600998,,'], ['600998', null, null, null]],
    [['Short Code: 600998'], ['600998', null, null, null]],
    [['Organization Short Code,600998 - A Company Ltd'], ['600998', null, null, null]],
    [['Organization Name:,A,Short Code:,600998'], ['600998', null, null, null]],
    [
      ['Short Code:,600998', 'Account:,Utility Account'],
      ['600998', 'Utility Account', null, null],
    ],
    [
      ['Time Period:,From 01-03-2026 00:00:00 To 04-03-2026 23:59:59', 'Short Code:,600998'],
      ['600998', null, '2026-02-28T21:00', '2026-03-04T20:59'],
    ],
    [['Time Period: 2026-03-01 - 2026-03-04'], [null, null, '2026-02-28T21:00', '2026-03-04T20:59']],
    [
      ['From Date:,01/03/2026', 'To Date:,04/03/2026'],
      [null, null, '2026-02-28T21:00', '2026-03-04T20:59'],
    ],
    [
      ['Short Code:,600998', 'Short Code:,600997'],
      [null, null, null, null],
    ],
    [['Account Holder:,A Company Ltd'], [null, null, null, null]],
  ])('%j', (rows, expected) => {
    expect(headingOf(...rows)).toEqual(expected)
  })
})

describe('the lines of a receipt', () => {
  const orderId = '3e1f5c80-0a7b-8d42-9f31-6c2b7a914d05'
  const ours = (fields: Partial<Booked> = {}): Booked => ({
    kind: 'payment',
    rail: 'MPESA_B2C' as AnyRail,
    id: 'one',
    attemptId: 'its attempt',
    orderId,
    conversation: null,
    reference: null,
    names: [],
    receipt: null,
    amountMinor: -15_000n,
    status: 'succeeded',
    sent: null,
    at: new Date('2026-03-04T09:00:00Z'),
    ...fields,
  })
  const row = (receipt: string, details: string, amount: string, linked = '') =>
    `${receipt},2026-03-04 12:00:05,${details},Completed,${amount.startsWith('-') ? `,${amount}` : `${amount},`},,254708***149,${linked},`
  const named = `Business Payment to 254708***149 via API. Original conversation ID is ${orderId}.`
  const found = (rows: readonly string[], booked: readonly Booked[]) => {
    const statement = readStatement(`${columns}\n${rows.join('\n')}\n`)
    if ('problem' in statement) throw new Error(statement.problem)
    const { matched, differences, charges, statedMinor, bookedMinor } = match(statement.lines, booked, 'KES')
    const explained = differences.reduce((sum, each) => sum + (each.statedMinor ?? 0n) - (each.bookedMinor ?? 0n), 0n)
    expect(statedMinor - bookedMinor).toBe(explained)
    return [
      matched,
      Number(charges.minor) / 100,
      ...differences.map(({ kind, statedMinor }) => `${kind} ${Number(statedMinor) / 100}`),
    ]
  }
  const receipted = ours({ orderId: null, receipt: 'UKA0000001' })
  test.each<[string, string[], Booked[], (number | string)[]]>([
    [
      'a charge above the payment',
      [row('UKA0000001', 'Business Payment Charge', '-13.00'), row('UKA0000001', named, '-150.00')],
      [ours()],
      [1, -13],
    ],
    [
      'a charge below it',
      [row('UKA0000001', named, '-150.00'), row('UKA0000001', 'Business Payment Charge', '-13.00')],
      [ours()],
      [1, -13],
    ],
    [
      'a charge that names the order too',
      [row('UKA0000001', named.replace('Payment', 'Payment Charge'), '-13.00'), row('UKA0000001', named, '-150.00')],
      [ours()],
      [1, -13],
    ],
    [
      'a charge that only its amount tells',
      [row('UKA0000001', named, '-13.00'), row('UKA0000001', named, '-150.00')],
      [ours()],
      [1, -13],
    ],
    [
      'a charge that is more than the payment',
      [row('UKA0000001', 'Business Payment Charge', '-200.00'), row('UKA0000001', named, '-150.00')],
      [ours()],
      [1, -200],
    ],
    [
      'a charge under a receipt of its own',
      [row('UKA0000001', named, '-150.00'), row('UKA0000002', 'Business Payment Charge', '-13.00', 'UKA0000001')],
      [ours()],
      [1, -13],
    ],
    [
      'a payment that is found by its receipt alone',
      [row('UKA0000001', 'Charge for a payment', '-13.00'), row('UKA0000001', 'Business Payment', '-150.00')],
      [receipted],
      [1, -13],
    ],
    ['a receipt in another case', [row('uka0000001', 'Business Payment', '-150.00')], [receipted], [1, 0]],
    [
      'a charge of a payment that nobody here made',
      [row('UKA0000001', 'Business Payment Charge', '-13.00'), row('UKA0000001', 'Business Payment', '-90.00')],
      [],
      [0, -13, 'not_in_our_books -90'],
    ],
    [
      'a charge without a payment',
      [row('UKA0000001', 'Business Payment Charge', '-13.00')],
      [receipted],
      [0, -13, 'not_in_statement 0'],
    ],
    [
      'a payee whose name is Charge',
      [row('UKA0000001', 'Pay Bill to 400200 - CHARGE LTD', '-90.00')],
      [],
      [0, 0, 'not_in_our_books -90'],
    ],
    ['money in that calls itself a charge', [row('UKA0000001', 'Charge', '90.00')], [], [0, 0, 'not_in_our_books 90']],
    [
      'a payment twice',
      [row('UKA0000001', named, '-150.00'), row('UKA0000001', named, '-150.00')],
      [ours()],
      [1, 0, 'listed_twice -150'],
    ],
    [
      'a payment of another amount',
      [row('UKA0000001', named, '-170.00'), row('UKA0000001', 'Business Payment Charge', '-13.00')],
      [ours()],
      [0, -13, 'amount_differs -170'],
    ],
    [
      'a reversal that names the payment',
      [row('UKA0000001', named, '-150.00'), row('UKA0000003', 'Reversal', '150.00', 'UKA0000001')],
      [ours()],
      [1, 0, 'reversed 150'],
    ],
    [
      'a reversal under the same receipt',
      [row('UKA0000001', named, '-150.00'), row('UKA0000001', 'Reversal', '150.00')],
      [ours()],
      [1, 0, 'reversed 150'],
    ],
    [
      'a reversal of what an earlier file listed',
      [row('UKA0000003', 'Reversal', '150.00', 'uka0000001')],
      [receipted],
      [0, 0, 'reversed 150'],
    ],
    [
      'a reversal, under the payment’s own receipt, of what an earlier file listed',
      [row('uka0000001', 'Reversal', '150.00')],
      [receipted],
      [0, 0, 'reversed 150'],
    ],
    [
      'a reversal of a part, of what an earlier file listed',
      [row('UKA0000001', 'Reversal', '50.00')],
      [receipted],
      [0, 0, 'reversed 50'],
    ],
    [
      'a reversal, with its charge, of what an earlier file listed',
      [row('UKA0000001', 'Fee of a reversal', '-13.00'), row('UKA0000001', 'Reversal', '150.00')],
      [receipted],
      [0, -13, 'reversed 150'],
    ],
    [
      'a reversal of a payment whose outcome is not known here',
      [row('UKA0000001', named.replace('Business Payment', 'Reversal'), '150.00')],
      [ours({ status: 'unknown' })],
      [0, 0, 'reversed 150'],
    ],
    [
      'money that left under the reference of a prompt that is pending',
      [row('UKA0000001', 'Reversal 100000000777', '-150.00')],
      [
        ours({
          kind: 'topup',
          rail: 'MPESA_STK',
          orderId: null,
          reference: '100000000777',
          amountMinor: 15_000n,
          status: 'pending',
        }),
      ],
      [0, 0, 'reversed -150'],
    ],
    [
      'a reversal under the same receipt of what came back here too',
      [row('UKA0000001', named, '-150.00'), row('UKA0000001', 'Reversal', '150.00')],
      [ours({ status: 'returned' })],
      [2, 0],
    ],
    [
      'a reversal alone of what came back here too',
      [row('UKA0000001', 'Reversal', '150.00')],
      [ours({ orderId: null, receipt: 'UKA0000001', status: 'returned' })],
      [1, 0],
    ],
    [
      'a linked reversal alone of what came back here too',
      [row('UKA0000003', 'Reversal', '150.00', 'UKA0000001')],
      [ours({ orderId: null, receipt: 'UKA0000001', status: 'returned' })],
      [1, 0],
    ],
    [
      'a reversal under a receipt of its own that names the order',
      [row('UKA0000001', named, '-150.00'), row('UKA0000005', named.replace('Business Payment', 'Reversal'), '150.00')],
      [ours({ receipt: 'UKA0000001' })],
      [1, 0, 'reversed 150'],
    ],
    [
      'a reversal under a receipt of its own that names the order, of what came back here too',
      [row('UKA0000001', named, '-150.00'), row('UKA0000005', named.replace('Business Payment', 'Reversal'), '150.00')],
      [ours({ receipt: 'UKA0000001', status: 'returned' })],
      [2, 0],
    ],
    [
      'another amount under a receipt of its own that names the order',
      [row('UKA0000001', named, '-150.00'), row('UKA0000005', named.replace('Business Payment', 'Pay Bill'), '70.00')],
      [ours({ receipt: 'UKA0000001' })],
      [1, 0, 'not_in_our_books 70'],
    ],
    [
      'two reversals of what came back here once',
      [row('UKA0000003', 'Reversal', '150.00', 'UKA0000001'), row('UKA0000004', 'Reversal', '150.00', 'UKA0000001')],
      [ours({ orderId: null, receipt: 'UKA0000001', status: 'returned' })],
      [1, 0, 'reversed 150'],
    ],
    [
      'a payment to ourselves and its deposit, which have one receipt',
      [row('UKA0000001', 'Pay Bill', '150.00'), row('UKA0000001', named, '-150.00')],
      [receipted, ours({ kind: 'topup', id: 'two', orderId: null, receipt: 'UKA0000001', amountMinor: 15_000n })],
      [2, 0],
    ],
    [
      'a reversal of what came back here too, linked',
      [row('UKA0000001', named, '-150.00'), row('UKA0000003', 'Reversal', '150.00', 'UKA0000001')],
      [ours({ status: 'returned' })],
      [2, 0],
    ],
    [
      'a payment that failed here, and its reversal',
      [row('UKA0000001', named, '-150.00'), row('UKA0000003', 'Reversal', '150.00', 'UKA0000001')],
      [ours({ status: 'failed' })],
      [2, 0],
    ],
    [
      'a reversal of something unknown',
      [row('UKA0000003', 'Reversal', '150.00', 'UKX0000001')],
      [],
      [0, 0, 'not_in_our_books 150'],
    ],
  ])('%s', (_name, rows, booked, expected) => {
    expect(found(rows, booked)).toEqual(expected)
  })
})
