import { type Bank, plainCode } from '../../lib/bank-code.ts'

/** The banks of Kenya that take part in PesaLink, by the first two digits of their sort codes. */
export const kenyanBanks: readonly Bank[] = [
  { code: '01', name: 'KCB Bank' },
  { code: '02', name: 'Standard Chartered Bank' },
  { code: '03', name: 'Absa Bank' },
  { code: '05', name: 'Bank of India' },
  { code: '06', name: 'Bank of Baroda' },
  { code: '07', name: 'NCBA Bank' },
  { code: '10', name: 'Prime Bank' },
  { code: '11', name: 'Co-operative Bank' },
  { code: '12', name: 'National Bank' },
  { code: '14', name: 'M-Oriental Bank' },
  { code: '16', name: 'Citibank' },
  { code: '18', name: 'Middle East Bank' },
  { code: '19', name: 'Bank of Africa' },
  { code: '23', name: 'Consolidated Bank' },
  { code: '25', name: 'Credit Bank' },
  { code: '26', name: 'Access Bank' },
  { code: '31', name: 'Stanbic Bank' },
  { code: '35', name: 'African Banking Corporation' },
  { code: '43', name: 'Ecobank' },
  { code: '50', name: 'Paramount Bank' },
  { code: '51', name: 'Kingdom Bank' },
  { code: '53', name: 'Guaranty Trust Bank' },
  { code: '54', name: 'Victoria Commercial Bank' },
  { code: '55', name: 'Guardian Bank' },
  { code: '57', name: 'I&M Bank' },
  { code: '59', name: 'Development Bank of Kenya' },
  { code: '60', name: 'SBM Bank' },
  { code: '61', name: 'HFC' },
  { code: '63', name: 'Diamond Trust Bank' },
  { code: '66', name: 'Sidian Bank' },
  { code: '68', name: 'Equity Bank' },
  { code: '70', name: 'Family Bank' },
  { code: '72', name: 'Gulf African Bank' },
  { code: '74', name: 'Premier Bank' },
  { code: '75', name: 'Dubai Islamic Bank' },
  { code: '76', name: 'United Bank for Africa' },
  { code: '78', name: 'Kenya Women Microfinance Bank' },
]

/** The codes that are accepted: those that the bank's own numbering is configured for, else all. */
export const banksOf = (codes: Readonly<Record<string, string>> | 'as_given'): readonly Bank[] => {
  if (codes === 'as_given') return kenyanBanks
  const nameOf = (code: string) => kenyanBanks.find((bank) => plainCode(bank.code) === plainCode(code))?.name ?? `Bank ${code}`
  return Object.keys(codes)
    .sort()
    .map((code) => ({ code, name: nameOf(code) }))
}
