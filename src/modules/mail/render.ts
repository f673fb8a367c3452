import factsSw from '../../../texts/facts.sw.json' with { type: 'json' }
import english from '../../../texts/mail.en.json' with { type: 'json' }
import swahili from '../../../texts/mail.sw.json' with { type: 'json' }
import { escapeHtml } from '../../http/page.ts'
import { englishFacts, type FactCatalogue, factLines } from '../../lib/approval-facts.ts'
import { type MailContent, type MailKind, mailKinds } from './service.ts'

type Text = Readonly<{ subject: string; lines: readonly string[]; action: string }>
type Catalogue = Readonly<Record<'footer' | 'time' | 'security' | 'invited' | 'never' | 'a_payment' | 'a_batch', string>> & {
  readonly settings: Readonly<Record<NonNullable<(typeof mailKinds)[MailKind]>, string>>
  readonly kinds: Readonly<Record<MailKind, Text>>
  readonly roles: Readonly<Record<string, string>>
}
export type Language = 'en' | 'sw'

const catalogues: Readonly<Record<Language, Catalogue>> = { en: english, sw: swahili }
const factTexts: Readonly<Record<Language, FactCatalogue>> = { en: englishFacts, sw: factsSw }

/** Inserts zero-width spaces into texts that mail clients would turn into links, so that names add no links to the mail. */
const unlinked = (text: string): string => text.replace(/[.:@/](?=\p{L})|:(?=\/\/)/gu, '$&\u200b')

/** Formats a time, for example "29 Nov 2026, 12:30 (Nairobi time)". */
export const timeIn = (language: Language, zone = 'UTC'): ((at: string) => string) => {
  const format = new Intl.DateTimeFormat(`${language}-KE`, { dateStyle: 'medium', timeStyle: 'short', timeZone: zone })
  const place = (zone.split('/').at(-1) ?? zone).replaceAll('_', ' ')
  return (at) => catalogues[language].time.replace('{place}', place).replace('{time}', format.format(new Date(at)))
}

type Values = Readonly<Record<string, string | null>>

/** Fills values into a sentence. Null if a value is missing: the sentence is then left out. */
const fill = (text: string, values: Values): string | null => {
  const names = [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  if (names.some((name) => (values[name] ?? null) === null)) return null
  return text.replace(/\{(\w+)\}/g, (_, name: string) => unlinked(values[name] ?? ''))
}

/** A mail with its address and, for an invitation, the secret of its link. */
export type OpenedMail = { kind: MailKind; language: Language; content: MailContent; address: string; secret: string | null }

export type RenderedMail = { subject: string; text: string; html: string }
export type ComposedMail = {
  subject: string
  paragraphs: readonly string[]
  action: { text: string; url: string }
  notes: readonly string[]
}

const longestSubject = 180

/** The mail before its layout. The link's secret comes after `#`, so that no server logs it. */
export const composeMail = (publicUrl: string, { kind, language, content, address: email, secret }: OpenedMail): ComposedMail => {
  const texts = catalogues[language]
  const { role, payee } = content.values
  const when = timeIn(language, content.zone)
  const times = Object.fromEntries(Object.entries(content.times ?? {}).map(([name, at]) => [name, when(at)]))
  const given: Values = { ...content.values, ...times, email, ...(role && { role: texts.roles[role] ?? role }) }
  const values: Values = { ...given, what: fill(payee ? texts.a_payment : texts.a_batch, given) }
  const { subject, lines, action } = texts.kinds[kind]
  const { all = [], of = 1, currency = '' } = content.facts ?? {}
  const facts = factLines(all, of, currency, { catalogue: factTexts[language], formatTime: when }).map(unlinked)
  const setting = mailKinds[kind]
  const reason =
    setting === null
      ? texts[kind === 'invitation' ? 'invited' : 'security']
      : fill(texts.footer, { setting: texts.settings[setting] })
  return {
    subject: [...(fill(subject, values) ?? action)].slice(0, longestSubject).join(''),
    paragraphs: [...lines.flatMap((line) => fill(line, values) ?? []), ...facts],
    action: { text: action, url: `${publicUrl}${content.path}${secret === null ? '' : `#${secret}`}` },
    notes: [reason ?? '', texts.never],
  }
}

const paragraphsHtml = (all: readonly string[], style: string): string =>
  all.map((one) => `<p style="${style}">${escapeHtml(one)}</p>`).join('\n')

export const layOut = (language: Language, { subject, paragraphs, action, notes }: ComposedMail): RenderedMail => ({
  subject,
  text: `${[...paragraphs, `${action.text}:\n${action.url}`, `-- \n${notes.join('\n')}`].join('\n\n')}\n`,
  html: `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${escapeHtml(subject)}</title></head>
<body style="margin:0 auto;padding:24px 16px;max-width:560px;font:16px/1.5 -apple-system,'Segoe UI',Roboto,Arial,sans-serif">
<h1 style="font-size:20px;line-height:1.3">${escapeHtml(subject)}</h1>
${paragraphsHtml(paragraphs, 'margin:0 0 12px;overflow-wrap:anywhere')}
<p style="margin:24px 0"><a href="${escapeHtml(action.url)}" style="display:inline-block;padding:10px 18px;border-radius:8px;background:#3b4fd8;color:#fff;text-decoration:none">${escapeHtml(action.text)}</a></p>
${paragraphsHtml(notes, 'margin:0 0 8px;font-size:13px;opacity:.75')}
</body>
</html>
`,
})
