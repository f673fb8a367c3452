import { z } from 'zod'
import { flag, headerText, httpUrl, list } from '../../config/fields.ts'
import { type Bank, kenyanBanks, plainCode } from '../../lib/banks.ts'
import { parseKenyanMobile } from '../../lib/phone.ts'
import { defineProvider } from '../definition.ts'
import { ourReferences, problem, readBankAccount } from '../destinations.ts'

/** The banks with a configured code, or all banks if codes are passed through. */
const banksOf = (codes: Readonly<Record<string, string>> | 'as_given'): readonly Bank[] => {
  if (codes === 'as_given') return kenyanBanks.map(({ code, name }) => ({ code, name }))
  const nameOf = (code: string) => kenyanBanks.find((bank) => plainCode(bank.code) === plainCode(code))?.name ?? `Bank ${code}`
  return Object.keys(codes)
    .sort()
    .map((code) => ({ code, name: nameOf(code) }))
}

/** Pairs of our bank code and the code that the operator's bank uses, such as `0012=57,0007=11`. */
const bankCodes = list.transform((entries, context): Readonly<Record<string, string>> | 'as_given' => {
  const pairs = entries.map((entry) => entry.split('='))
  if (pairs.some((pair) => pair.length !== 2 || !pair[0] || !pair[1]))
    context.addIssue({ code: 'custom', message: "each entry must be our code = the bank's code" })
  return Object.fromEntries(pairs as [string, string][])
})

export const definition = defineProvider({
  provider: 'PESALINK',
  setting: 'pesalink',
  settings: {
    PESALINK_URL: httpUrl.optional(),
    PESALINK_API_KEY: headerText.optional(),
    PESALINK_MERCHANT_CODE: z.string().optional(),
    PESALINK_CONSUMER_SECRET: z.string().optional(),
    PESALINK_PRIVATE_KEY: z.string().optional(),
    PESALINK_ACCOUNT_NUMBER: z.string().optional(),
    PESALINK_ACCOUNT_NAME: z.string().optional(),
    PESALINK_BANK_CODES: bankCodes.default('as_given'),
    PESALINK_FAILURE_CODES: list.default([]),
    PESALINK_CALLBACK_FIELD: z.string().optional(),
    PESALINK_DEPOSIT_BANK_CODE: z.string().optional(),
    PESALINK_NOTICE_PATH: z.string().startsWith('/', 'must begin with /').optional(),
    PESALINK_REFERENCE_IS_UNIQUE: flag.optional(),
    PESALINK_LOOKUP_PATH: z.string().startsWith('/', 'must begin with /').optional(),
  },
  required: [
    'PESALINK_URL',
    'PESALINK_API_KEY',
    'PESALINK_MERCHANT_CODE',
    'PESALINK_CONSUMER_SECRET',
    'PESALINK_PRIVATE_KEY',
    'PESALINK_ACCOUNT_NUMBER',
    'PESALINK_ACCOUNT_NAME',
  ],
  addresses: ['PESALINK_URL'],
  refusedInCallbacks: [],
  replaced: [],
  payouts: {
    PESALINK: {
      destination: 'an account number with bank_code, or a mobile number without',
      readDestination: (text, bankCode) => {
        if (bankCode === null) {
          const number = parseKenyanMobile(text)
          return number === undefined
            ? problem('bank_code', 'is required for a bank account')
            : { destination: number, bankCode: null }
        }
        const account = readBankAccount(text)
        return typeof account === 'string' ? { destination: account, bankCode } : account
      },
      limits: { minMinor: 1_000n, maxMinor: 99_999_900n, wholeUnits: false },
      payee: 'person',
      banks: ({ PESALINK_BANK_CODES }) => banksOf(PESALINK_BANK_CODES),
      accountReference: null,
      repeat: { setting: 'PESALINK_REFERENCE_IS_UNIQUE' },
      namesNeed: 'PESALINK_LOOKUP_PATH',
    },
  },
  prompts: {},
  deposits: {
    PESALINK: {
      label: 'PesaLink from a bank',
      accepted: { status: true, message: 'Accepted' },
      unknownAccount: null,
      refusedInAddresses: [],
    },
  },
  statement: {
    columns: {
      receipt: ['transaction id'],
      time: ['date'],
      status: ['status'],
      in: ['credit'],
      out: ['debit'],
      party: [],
      account: [],
      linked: ['original transaction id'],
      details: ['narrative'],
      texts: ['reference', 'narrative'],
    },
    isOfBank: true,
    heading: {
      number: ['account number', 'account no.', 'account no', 'account', 'a/c number', 'a/c no.', 'a/c no'],
      account: ['account type', 'product'],
    },
    completed: ['success', 'successful', 'completed'],
    referencesIn: ourReferences,
  },
})
