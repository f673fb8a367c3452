import { createElement, Fragment, type ReactNode } from 'react'
import { englishFacts, type FactCatalogue } from '../../../src/lib/approval-facts.ts'
import english from '../../../texts/pages.en.json' with { type: 'json' }
import type { CodeTexts } from './code-texts.ts'
import { readStored } from './store.ts'

// Texts are in `texts/<part>.<language>.json`. A missing key does not compile. Lazy pages have their own files.

/** Each language in its own name. */
export const languageOptions = [
  { value: 'en', label: 'English' },
  { value: 'sw', label: 'Kiswahili' },
] as const
export type Language = (typeof languageOptions)[number]['value']

type Text = string | { one: string; other: string }
export type Key = keyof typeof english
const isLanguage = (text: string | undefined): text is Language => languageOptions.some(({ value }) => value === text)

/** "sw acc_1": the language chosen in this browser, and the account whose choice it is. */
export const [storedLanguage, storedFor] = readStored('language')?.split(' ') ?? []

/** The language chosen in this browser, or the browser's own. */
export const language: Language = isLanguage(storedLanguage) ? storedLanguage : navigator.language.startsWith('sw') ? 'sw' : 'en'

/** Kenyan formats: 24-hour clock, day before month. */
export const locale = `${language}-KE`

const plural = new Intl.PluralRules(locale)
const numbers = new Intl.NumberFormat(locale)

/** Loads Swahili only for its readers; English is the fallback. Modules await it, so constants may hold texts. */
const loadTexts = async <Texts>(english: Texts, readSwahili: () => Promise<{ default: Texts }>): Promise<Texts> =>
  language === 'sw'
    ? readSwahili().then(
        ({ default: texts }) => texts,
        () => english,
      )
    : english

export const createTranslator = async <Texts extends Readonly<Record<keyof Texts, Text>>>(
  ...languages: Parameters<typeof loadTexts<Texts>>
) => {
  const texts = await loadTexts(...languages)
  const formOf = (key: keyof Texts, { count }: Readonly<Record<string, unknown>>): string => {
    const text: Text = texts[key]
    if (typeof text === 'string') return text
    return plural.select(Number(count)) === 'one' ? text.one : text.other
  }
  return {
    isKey: (text: string): text is keyof Texts & string => Object.hasOwn(texts, text),
    /** A text with its values, in the plural form for `count`. Groups digits: "1,000 payments". */
    t: (key: keyof Texts, values: Readonly<Record<string, string | number>> = {}): string =>
      formOf(key, values).replace(/\{(\w+)\}/g, (placeholder, name: string) => {
        const value = values[name] ?? placeholder
        return typeof value === 'number' ? numbers.format(value) : value
      }),
    /** A text with elements in it, such as links and times. */
    rich: (key: keyof Texts, values: Readonly<Record<string, ReactNode>>): ReactNode[] =>
      formOf(key, values)
        .split(/\{(\w+)\}/)
        .map((part, index) => (index % 2 === 0 ? part : createElement(Fragment, { key: part }, values[part]))),
  }
}

const [pages, facts, codes] = await Promise.all([
  createTranslator(english, () => import('../../../texts/pages.sw.json', { with: { type: 'json' } })),
  loadTexts<FactCatalogue>(englishFacts, () => import('../../../texts/facts.sw.json', { with: { type: 'json' } })),
  loadTexts<CodeTexts | null>(null, async () => ({ default: (await import('./code-texts.ts')).swahiliCodes })),
])

export const { isKey, t, rich } = pages
export { facts as factTexts }

const textOf = <Text>(texts: Readonly<Record<string, Text>> | undefined, code: string | null): Text | undefined =>
  code !== null && texts && Object.hasOwn(texts, code) ? texts[code] : undefined
/** Translation of an API error, by its code. Undefined in English. */
export const errorText = (code: string) => textOf(codes?.errors, code)?.sentence
export const adviceText = (code: string) => textOf(codes?.advice, code)
export const railText = (rail: string) => textOf(codes?.rails, rail)
export const depositText = (method: string) => textOf(codes?.deposits, method)
export const failureText = (code: string | null) => textOf(codes?.failures, code)
