import { closest } from './closest.ts'

/**
 * Kenya's banks by two-digit bank code. The Central Bank publishes no such list for PesaLink. docs.pesaswap.io (PesaPay) and
 * developers.kulmipay.com agree on all banks that both list. 05, 26 and 59 appear only in the Central Bank's QR code standard.
 * That standard lists HFC as 83 in QR codes, but both providers use 61 for payments.
 *
 * Checked on 2026-11-22. Before paying, compare with the list of participants that IPSL, PesaLink's operator, gives to customers.
 */
export const kenyanBanks: readonly Bank[] = [
  { code: '03', name: 'Absa Bank', also: ['barclays'] },
  { code: '26', name: 'Access Bank' },
  { code: '35', name: 'African Banking Corporation', also: ['abc'] },
  { code: '19', name: 'Bank of Africa', also: ['boa'] },
  { code: '06', name: 'Bank of Baroda' },
  { code: '05', name: 'Bank of India' },
  { code: '16', name: 'Citibank' },
  { code: '23', name: 'Consolidated Bank' },
  { code: '11', name: 'Co-operative Bank', also: ['coop', 'co op', 'cooperative'] },
  { code: '25', name: 'Credit Bank' },
  { code: '59', name: 'Development Bank of Kenya' },
  { code: '63', name: 'Diamond Trust Bank', also: ['dtb', 'diamond trust', 'dtb kenya'] },
  { code: '75', name: 'DIB Bank' },
  { code: '43', name: 'Ecobank' },
  { code: '68', name: 'Equity Bank' },
  { code: '70', name: 'Family Bank' },
  { code: '55', name: 'Guardian Bank' },
  { code: '72', name: 'Gulf African Bank' },
  { code: '53', name: 'Guaranty Trust Bank', also: ['gt', 'gtbank', 'gtb'] },
  { code: '17', name: 'Habib Bank' },
  { code: '61', name: 'HFC', also: ['housing finance', 'hf'] },
  { code: '57', name: 'I&M Bank', also: ['imbank', 'i and m'] },
  { code: '01', name: 'KCB Bank', also: ['kenya commercial'] },
  { code: '78', name: 'Kenya Women Microfinance Bank', also: ['kwft'] },
  { code: '51', name: 'Kingdom Bank' },
  { code: '65', name: 'Mayfair CIB Bank' },
  { code: '18', name: 'Middle East Bank' },
  { code: '14', name: 'M-Oriental Bank' },
  { code: '12', name: 'National Bank of Kenya', also: ['nbk'] },
  { code: '07', name: 'NCBA Bank', also: ['nic', 'cba', 'commercial bank of africa'] },
  { code: '50', name: 'Paramount Bank' },
  { code: '74', name: 'Premier Bank' },
  { code: '10', name: 'Prime Bank' },
  { code: '60', name: 'SBM Bank' },
  { code: '66', name: 'Sidian Bank' },
  { code: '31', name: 'Stanbic Bank', also: ['cfc stanbic'] },
  { code: '02', name: 'Standard Chartered', also: ['stanchart', 'scb'] },
  { code: '76', name: 'UBA' },
  { code: '54', name: 'Victoria Commercial Bank' },
]

/** `also`: other names, each of which belongs to one bank only. */
export type Bank = { code: string; name: string; also?: readonly string[] }

const usualWords = new Set(['bank', 'of', 'the', 'limited', 'ltd', 'plc', 'kenya', 'k'])
const wordsOf = (name: string): string[] => name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
const namingWords = (name: string): string[] => wordsOf(name).filter((word) => !usualWords.has(word))

/** Banks whose names contain every distinctive word of the text: "Equity", "KCB Bank Kenya Ltd". */
const banksNamed = (text: string, banks: readonly Bank[]): readonly Bank[] => {
  const asked = namingWords(text)
  return asked.length === 0 ? [] : banks.filter(({ name }) => asked.every((word) => wordsOf(name).includes(word)))
}

/** Hints at up to three banks: with the text as part of the name ("Equity", "Bank of"), or with a similar code or name. */
export const bankHint = (text: string, banks: readonly Bank[] = kenyanBanks): string => {
  const named = banksNamed(text, banks)
  const begun = banks.filter(({ name }) => name.toLowerCase().startsWith(text.trim().toLowerCase()))
  const near = closest(
    text,
    banks.flatMap(({ code, name }) => [code, name]),
  )
  const [alike = []] = [named, begun, banks.filter(({ code, name }) => code === near || name === near)].filter(
    ({ length }) => length,
  )
  const meant = alike.slice(0, 3).map(({ code, name }) => `${code} (${name})`)
  return meant.length === 0 ? '' : ` Did you mean ${meant.join(' or ')}?`
}

/** The bank with exactly this name. "Commercial Bank" is only part of one bank's name and could mean another bank. */
export const bankOfName = (text: string): Bank | undefined => {
  const said = wordsOf(text).join(' ')
  const asked = namingWords(text).join(' ')
  const called = (name: string) => kenyanBanks.find(({ also }) => also?.includes(name))
  return called(said) ?? called(asked) ?? kenyanBanks.find(({ name }) => asked !== '' && namingWords(name).join(' ') === asked)
}

/** "1", "01" and "0001" are the same code. */
export const plainCode = (code: string): string =>
  code
    .trim()
    .toUpperCase()
    .replace(/^0+(?=.)/, '')
