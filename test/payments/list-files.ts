/** A person's file and its meaning: payments, or faults of the whole or of rows. */
export type ListFile = {
  name: string
  /** The page's text if it asks instead of refusing like the API: which column is which, and which letters are right. */
  page?: string
  bytes: Uint8Array
  contentType: string
} & (
  | { pays: readonly (readonly [name: string, lastDigits: string, amountMinor: string])[] }
  | { status: 400 | 415; says: string }
  | { rows: readonly (readonly [row: number, param: string, says: string])[] }
)

const utf8 = (text: string): Uint8Array => Buffer.from(text)
const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1')
const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le')

const csv = 'text/csv'
const two = [
  ['Chébet Kosgei', '0101', '1250000'],
  ['Baraka Mwangi', '0102', '900000'],
] as const
const plain = 'name,phone,amount\r\nChébet Kosgei,0722000101,12500.00\r\nBaraka Mwangi,0722000102,9000\r\n'
const semicolons = plain.replaceAll(',', ';')
const tabs = plain.replaceAll(',', '\t')
const titled = (titles: string, separator = ',') => plain.replace('name,phone,amount', titles).replaceAll(',', separator)
const rowOf = (cells: string, before = 'name,phone,amount\r\n') => utf8(`${before}${cells}\r\n`)
const achieng = [['Achieng', '0101', '1250000']] as const

/** The first bytes of an Excel workbook. */
const xlsx = Buffer.concat([
  Buffer.from('504b030414000600080000002100', 'hex'),
  Buffer.from('[Content_Types].xml'),
  Buffer.alloc(64),
])
const xls = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(504)])

// Exports of banks and payroll systems. Sources, in plain words: (a) a bank's template for bulk salaries, (b) bank files of a
// school's payroll, (c) the bank list of a company's staff service, (d) the bank list of an HR page, (e) a payroll's file for a
// corporate bank's upload, (f) people's own lists.
const atBank = [['Achieng Otieno', '0123', '4500000']] as const
const export_ = (name: string, titles: string, row: string, more: Partial<ListFile> = {}) =>
  ({ name, bytes: utf8(`${titles}\r\n${row}\r\n`), contentType: csv, pays: atBank, ...more }) as ListFile
const payrolls: ListFile[] = [
  export_(
    'a bank template with its own payment type (a)',
    'Payment Type,Beneficiary Name,Bank Code,Branch Code,Account Number,Amount,Reference,Narrative',
    '"EFT","Achieng Otieno","68","000","0123456780123",45000.00,"SAL-E001-2026-11-28","Salary Payment"',
  ),
  export_(
    'a school payroll (b)',
    'Beneficiary Name,Account Number,Bank Code,Branch Code,Amount,Narration',
    '"Achieng Otieno","00001230123","68","001","45000.00","March 2026 Salary"',
  ),
  export_(
    'a payroll with the numbers of its employees',
    'Staff No,ID Number,Beneficiary Account Name,Beneficiary Account No.,Bank Name,Department,Net Salary (KES),Payment Details',
    'E001,12345678,Achieng Otieno,00001230123,Equity Bank,Farm,"45,000.00",March 2026 Salary',
  ),
  export_(
    'a staff service, with our currency (c)',
    'Beneficiary Name,Account Number,Bank Code,Amount,Currency,Payment Reference',
    'Achieng Otieno,00001230123,68,45000,KES,MAR-2026',
  ),
  export_(
    'semicolons and no more (a)',
    'Beneficiary Name;Account Number;Bank Code;Amount',
    'Achieng Otieno;00001230123;68;45000',
  ),
  export_(
    'an HR page, with the bank by its name (d)',
    'Account holder,Bank,Branch code,Account number,Amount,Reference',
    'Achieng Otieno,Equity Bank (Kenya) Ltd,068,00001230123,"KES 45,000.00",Salary 2026-03',
  ),
  export_(
    'an upload to a corporate bank (e)',
    'Record Type,Bene Ref,Bene Name,SwiftCode,Branch,Bank,Branch Code,Account Number,Amount,Remarks,Currency',
    'P,E001,Achieng Otieno,EQBLKENA,Westlands,Equity,000,00001230123,"Ksh 45,000",Salary,Ksh',
  ),
  export_(
    'a purpose, and a total (f)',
    'No.,Names,Tel No.,Net Pay,Purpose',
    '1,Achieng Otieno,0722000123,"45,000/=",March\r\n,TOTAL,,45000,',
  ),
  export_('a total without a word (f)', 'Name,Phone,Amount (Ksh)', 'Achieng Otieno,0722000123,Kshs. 45 000\r\n,,"45,000.00"'),
  export_('a reference beside a phone (f)', 'Name,Phone,Amount,Reference', 'Achieng Otieno,0722000123,45000.00,SAL-E001'),
  export_('a bank for phones (f)', 'Name,Bank,Account No,Amount', 'Achieng Otieno,M-PESA,0722000123,45000'),
]

const good: ListFile[] = [
  { name: 'Excel, "CSV UTF-8"', bytes: utf8(`\uFEFF${plain}`), contentType: csv, pays: two },
  { name: 'Google Sheets: no mark, no last line end', bytes: utf8(plain.trimEnd()), contentType: csv, pays: two },
  { name: 'LibreOffice on Linux', bytes: utf8(plain.replaceAll('\r\n', '\n')), contentType: `${csv};charset=UTF-8`, pays: two },
  { name: 'Numbers, every cell quoted', bytes: utf8(plain.replace(/[^,\r\n]+/g, '"$&"')), contentType: csv, pays: two },
  {
    name: 'Excel, plain "CSV", declared',
    page: 'Which line looks right?',
    bytes: latin1(plain),
    contentType: `${csv}; charset=windows-1252`,
    pays: two,
  },
  {
    name: 'Excel, plain "CSV" with a curly apostrophe, declared',
    page: 'Which line looks right?',
    bytes: Buffer.concat([latin1('name,phone,amount\r\nN'), Buffer.of(0x92), latin1('gang\xE9,0722000101,12500\r\n')]),
    contentType: `${csv}; charset="Windows-1252"`,
    pays: [['N’gangé', '0101', '1250000']],
  },
  {
    name: 'Excel for Mac, "CSV (Macintosh)", declared',
    page: 'Which line looks right?',
    bytes: Buffer.concat([latin1('name,phone,amount\rCh'), Buffer.of(0x8e), latin1('bet Kosgei,0722000101,12500\r')]),
    contentType: `${csv}; charset=macintosh`,
    pays: [['Chébet Kosgei', '0101', '1250000']],
  },
  { name: 'Excel, "Unicode Text"', bytes: utf16(`\uFEFF${tabs}`), contentType: csv, pays: two },
  { name: 'UTF-16 with the big end first', bytes: utf16(`\uFEFF${plain}`).swap16(), contentType: csv, pays: two },
  {
    name: 'UTF-16 without a mark, declared',
    page: 'Which line looks right?',
    bytes: utf16(plain),
    contentType: `${csv}; charset=utf-16le`,
    pays: two,
  },
  {
    name: 'a mark that contradicts the declared charset',
    bytes: utf8(`\uFEFF${plain}`),
    contentType: `${csv}; charset=windows-1252`,
    pays: two,
  },
  {
    name: 'latin1, declared in capitals',
    page: 'Which line looks right?',
    bytes: latin1(plain),
    contentType: `${csv}; CHARSET=ISO-8859-1`,
    pays: two,
  },
  { name: 'Excel where commas are decimal', bytes: utf8(`\uFEFF${semicolons}`), contentType: csv, pays: two },
  { name: 'Excel with a sep= line', bytes: utf8(`sep=;\r\n${semicolons}`), contentType: csv, pays: two },
  { name: 'a quoted sep= line behind a mark', bytes: utf8(`\uFEFF"sep=,"\r\n${plain}`), contentType: csv, pays: two },
  { name: 'a sep= line that names a bar', bytes: utf8(`SEP=|\n${plain.replaceAll(',', '|')}`), contentType: csv, pays: two },
  { name: 'what was copied from a spreadsheet', bytes: utf8(tabs), contentType: csv, pays: two },
  {
    name: 'semicolons, and amounts with commas',
    bytes: rowOf('Achieng;0722000101;12,500.00', 'name;phone;amount\r\n'),
    contentType: csv,
    pays: achieng,
  },
  {
    name: 'commas, and a quoted amount with a comma',
    bytes: rowOf('Achieng,0722000101,"12,500.00"'),
    contentType: csv,
    pays: achieng,
  },
  {
    name: 'semicolons, and texts with more commas',
    bytes: rowOf('Achieng;0722000101;12500;a, b, c, d', 'name;phone;amount;narrative\r\n'),
    contentType: csv,
    pays: achieng,
  },
  { name: 'empty columns behind the last title', bytes: utf8(plain.replaceAll('\r\n', ',,,\r\n')), contentType: csv, pays: two },
  { name: 'an empty column between two', bytes: utf8(plain.replaceAll(/^([^,]+),/gm, '$1,,')), contentType: csv, pays: two },
  { name: 'empty rows between and behind', bytes: utf8(plain.replaceAll('\r\n', '\r\n,,\r\n\r\n')), contentType: csv, pays: two },
  {
    name: 'lines that end in several ways',
    bytes: utf8(plain.replace('\r\n', '\n').replace(/\r\n$/, '\r')),
    contentType: csv,
    pays: two,
  },
  {
    name: 'titles of a payroll system',
    bytes: utf8(titled('"Employee Name","Phone Number","Net Pay"')),
    contentType: csv,
    pays: two,
  },
  {
    name: 'titles in Swahili',
    bytes: utf8(titled('Jina,Nambari ya simu,Kiasi (KSh)')),
    contentType: csv,
    pays: two,
  },
  {
    name: 'the name of the company and a heading above the titles',
    bytes: utf8(`Kilimo Fresh Ltd,,\r\n"Payroll, November 2026",,\r\n\r\n${plain}`),
    contentType: csv,
    pays: two,
  },
  {
    name: 'titles in capitals, with signs',
    bytes: utf8(titled('FULL_NAMES ,Mobile No.,NET PAY (KES)')),
    contentType: csv,
    pays: two,
  },
  {
    name: 'titles with spaces that are not plain',
    bytes: utf8(titled('Employee\u00A0Name,\u200BPhone Number,Net\u202FPay')),
    contentType: csv,
    pays: two,
  },
  { name: 'phones that lost their zero', bytes: utf8(plain.replaceAll(',0722', ',722')), contentType: csv, pays: two },
  {
    name: 'phones kept as text by a formula',
    bytes: utf8(plain.replaceAll(/0722\d+/g, '"=""$&"""')),
    contentType: csv,
    pays: two,
  },
  { name: 'phones behind an apostrophe', bytes: utf8(plain.replaceAll('0722', "'0722")), contentType: csv, pays: two },
  {
    name: 'a phone from a contacts app',
    bytes: rowOf('Achieng,\u202A+254722000101\u202C,12500'),
    contentType: csv,
    pays: achieng,
  },
  {
    name: 'a phone with dashes and spaces',
    bytes: rowOf('Achieng,+254\u2011722\u00A0000 101,12500'),
    contentType: csv,
    pays: achieng,
  },
  { name: 'a phone with 00 and a zero', bytes: rowOf('Achieng,00254 0722.000.101,12500'), contentType: csv, pays: achieng },
  { name: 'an amount with spaces', bytes: rowOf('Achieng,0722000101,12\u202F500.00\u00A0'), contentType: csv, pays: achieng },
  {
    name: 'a cell with a line break',
    bytes: rowOf('"Achieng",0722000101,12500,"March\nsalary"', 'name,phone,amount,metadata.note\r\n'),
    contentType: csv,
    pays: achieng,
  },
  {
    name: 'rows that were not paid, with our reasons in a last column',
    bytes: utf8(`\uFEFF${plain.replaceAll('\r\n', ',is not an amount\r\n').replace('is not an amount', 'Why it was not paid')}`),
    contentType: csv,
    pays: two,
  },
  ...payrolls,
  { name: 'CSV that Windows calls Excel', bytes: utf8(plain), contentType: 'application/vnd.ms-excel', pays: two },
  { name: 'application/csv', bytes: utf8(plain), contentType: 'application/csv', pays: two },
]

const refused: ListFile[] = [
  {
    name: 'a total that is not the sum of the rows',
    bytes: utf8(`${plain}Total,,20000\r\n`),
    contentType: csv,
    status: 400,
    says: 'row 4 is a total of "20000", and the rows above it are KES 21,500.00',
  },
  {
    name: 'Excel, plain "CSV", not declared',
    page: 'Which line looks right?',
    bytes: latin1(plain),
    contentType: csv,
    status: 400,
    says: 'is not UTF-8: save it as "CSV UTF-8", or declare',
  },
  {
    name: 'Excel, plain "CSV", declared as UTF-8',
    page: 'Which line looks right?',
    bytes: latin1(plain),
    contentType: `${csv}; charset=utf-8`,
    status: 400,
    says: 'is not utf-8',
  },
  {
    name: 'UTF-16 without a mark',
    page: 'Which line looks right?',
    bytes: utf16(plain.replace('é', 'e')),
    contentType: csv,
    status: 400,
    says: 'UTF-16 without a byte order mark',
  },
  {
    name: 'an unknown charset',
    page: '',
    bytes: utf8(plain),
    contentType: `${csv}; charset=ibm850`,
    status: 400,
    says: '"ibm850"',
  },
  { name: 'an xlsx workbook', bytes: xlsx, contentType: csv, status: 400, says: 'save it as "CSV UTF-8"' },
  { name: 'an xls workbook', bytes: xls, contentType: 'application/vnd.ms-excel', status: 400, says: 'save it as "CSV UTF-8"' },
  {
    name: 'an xlsx workbook under its own type',
    bytes: xlsx,
    contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    status: 415,
    says: 'save it as "CSV UTF-8"',
  },
  {
    name: 'a web page named .xls',
    bytes: utf8('<html><table><tr><td>name</td></tr></table></html>'),
    contentType: csv,
    status: 400,
    says: 'save it as "CSV UTF-8"',
  },
  {
    name: 'more columns than 64',
    bytes: utf8(`${Array.from({ length: 65 }, (_, n) => `metadata.n${n}`).join(',')}\r\n1\r\n`),
    contentType: csv,
    status: 400,
    says: '65 columns',
  },
  {
    name: 'a column __proto__',
    page: 'Choose what “__proto__” is',
    bytes: utf8(plain.replace('name,', '__proto__,')),
    contentType: csv,
    status: 400,
    says: '__proto__: is not a known column. Known are beneficiary_id',
  },
  {
    name: 'a column constructor',
    page: 'Choose what “constructor” is',
    bytes: utf8(plain.replace('name,', 'constructor,')),
    contentType: csv,
    status: 400,
    says: 'constructor: is not a known column',
  },
  {
    name: 'two columns for one thing',
    page: '“Phone” and “Mobile” cannot both be “Phone or account”',
    bytes: utf8(plain.replace('name,phone', 'Phone,Mobile')),
    contentType: csv,
    status: 400,
    says: '"Phone" and "Mobile"',
  },
  {
    name: 'no amounts',
    page: 'Choose the one column that is the amount',
    bytes: utf8('name,phone\r\nAchieng,0722000101\r\n'),
    contentType: csv,
    status: 400,
    says: 'give each row one amount',
  },
  {
    name: 'titles alone',
    page: 'This file has no payments',
    bytes: utf8('name,phone,amount\r\n'),
    contentType: csv,
    status: 400,
    says: 'has no rows',
  },
  {
    name: 'nothing but a mark',
    page: 'This file has no payments',
    bytes: utf8('\uFEFF'),
    contentType: csv,
    status: 400,
    says: 'has no rows',
  },
  {
    name: 'a quote that is not closed',
    bytes: rowOf('"Achieng,0722000101,12500'),
    contentType: csv,
    status: 400,
    says: 'none closes it',
  },
  {
    name: 'a filled column without a title',
    page: 'Choose what the column without a title is',
    bytes: rowOf('Achieng,x,0722000101,12500', 'name,,phone,amount\r\n'),
    contentType: csv,
    status: 400,
    says: 'column 2 has no title',
  },
]

const faulty: ListFile[] = [
  {
    name: 'an amount with a comma that is not quoted',
    bytes: utf8('name,phone,amount\r\nAchieng,0722000101,12,500\r\nBaraka,0722000102,900\r\n'),
    contentType: csv,
    rows: [[2, 'row', '4 cells, 3 columns: quote an amount with a comma']],
  },
  {
    name: 'a row with a cell too few',
    bytes: utf8(`${plain}Achieng,12500\r\n`),
    contentType: csv,
    rows: [[4, 'row', '2 cells, 3 columns']],
  },
  {
    name: 'a fault below empty rows',
    bytes: utf8(`sep=,\r\n${plain}\r\n,,\r\nAchieng,0722000101,many\r\n`),
    contentType: csv,
    rows: [[6, 'amount', '"many" is not an amount']],
  },
  {
    name: 'phones as Excel shows them',
    bytes: rowOf('Achieng,2.54722E+11,12500'),
    contentType: csv,
    rows: [[2, 'destination', 'what Excel made of a long number']],
  },
  {
    name: 'a phone and an amount as Excel shows them',
    bytes: rowOf('Achieng,7.22E+08,1.25E+04'),
    contentType: csv,
    rows: [
      [2, 'destination', 'Excel made'],
      [2, 'amount', 'Excel made'],
    ],
  },
  {
    name: 'a letter that an earlier program lost',
    bytes: rowOf('Ch\uFFFDbet Kosgei,0722000101,12500'),
    contentType: csv,
    rows: [[2, 'display_name', 'has a letter that an earlier program lost']],
  },
  {
    name: 'a decimal comma',
    bytes: rowOf('Achieng;0722000101;12500,50', 'name;phone;amount\r\n'),
    contentType: csv,
    rows: [[2, 'amount', '"12500,50" is not an amount']],
  },
  {
    name: 'an amount in another currency, and a column that says so',
    bytes: rowOf('Achieng,0722000101,USD 12500,KES\r\nBaraka,0722000102,900,USD', 'name,phone,amount,currency\r\n'),
    contentType: csv,
    rows: [
      [2, 'amount', '"USD 12500" is not an amount'],
      [3, 'currency', '"USD" is another currency than KES'],
    ],
  },
  {
    name: 'banks whose names mean two, or none, or another than the code',
    bytes: rowOf(
      'A,Commercial Bank,,00001230123,900\r\nB,Bank of the Moon,,00001230123,900\r\nC,Equity,01,00001230123,900\r\nD,Bank of,,00001230123,900\r\nE,99,,00001230123,900',
      'name,bank,bank code,account number,amount\r\n',
    ),
    contentType: csv,
    rows: [
      [
        2,
        'bank_name',
        '"Commercial Bank" is not the name of one bank that can be paid; GET /v1/banks lists them. Did you mean 54 (Victoria Commercial Bank)?',
      ],
      [3, 'bank_name', '"Bank of the Moon" is not the name of one bank that can be paid; GET /v1/banks lists them.'],
      [4, 'bank_code', '"01" is not the code of the named bank, which has 68'],
      [5, 'bank_name', 'Did you mean 19 (Bank of Africa) or 06 (Bank of Baroda) or 05 (Bank of India)?'],
      [6, 'bank_code', '"99" is not the code of a bank that can be paid; GET /v1/banks lists them.'],
    ],
  },
]

export const listFiles: readonly ListFile[] = [...good, ...refused, ...faulty]
