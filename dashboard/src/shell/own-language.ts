import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { accountQuery, api, notificationSettingsQuery } from '../api/queries.ts'
import { type Language, language, languageOptions, storedFor, storedLanguage } from '../lib/language.ts'
import { hasSignedInHere } from '../lib/page-state.ts'
import { writeStored } from '../lib/store.ts'
import { useChange } from '../ui/form.tsx'

const settings = '/v1/accounts/me/notification-settings'

/** Stores the choice, and reloads the page if the language changes. Drafts of forms survive the reload. */
const chooseLanguage = (choice: Language, accountId: string | null): void => {
  writeStored('language', [choice, ...(accountId === null ? [] : [accountId])].join(' '))
  if (choice !== language) location.reload()
}

/** The language that is not shown, in its own name. Choosing it also changes the language of the person's emails. */
export const useOtherLanguage = () => {
  // Only reads the cache, because other components load the account.
  const { data: account } = useQuery({ ...accountQuery, enabled: false })
  const { value: lang, label: children } = language === 'en' ? languageOptions[1] : languageOptions[0]
  const { mutate } = useChange(async () => account && api.PATCH(settings, { body: { language: lang } }), {
    announcesFailure: true,
    onDone: () => chooseLanguage(lang, account?.id ?? null),
  })
  return { lang, onClick: () => mutate(), children }
}

/** A choice before sign-in becomes the person's setting. */
const isChosenBefore = storedLanguage !== undefined && storedFor === undefined
let isAdopted = false

/** At sign-in, Swahili follows a person to a browser without a choice. English does not: it may be only the default. */
export const useOwnLanguage = (accountId: string): void => {
  const { data } = useQuery({ ...notificationSettingsQuery, enabled: hasSignedInHere() && storedFor !== accountId })
  useEffect(() => {
    // Runs once, because the account page changes the same settings later.
    if (!data || isAdopted || storedFor === accountId) return
    isAdopted = true
    // A failure is not retried: the choice is in the account menu.
    if (isChosenBefore && data.language !== language) void api.PATCH(settings, { body: { language } }).catch(() => undefined)
    chooseLanguage(isChosenBefore || data.language === 'en' ? language : data.language, accountId)
  }, [data, accountId])
}
