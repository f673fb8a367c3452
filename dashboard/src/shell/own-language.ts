import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { accountQuery, api, notificationSettingsQuery } from '../api/queries.ts'
import { kept, keptFor, type Language, language, languageOptions } from '../lib/language.ts'
import { hasSignedInHere } from '../lib/page-state.ts'
import { keepStored } from '../lib/store.ts'
import { useChange } from '../ui/form.tsx'

const settings = '/v1/accounts/me/notification-settings'

/** Loads the page anew, which forms survive. */
const chooseLanguage = (choice: Language, accountId: string | null): void => {
  keepStored('language', [choice, ...(accountId === null ? [] : [accountId])].join(' '))
  if (choice !== language) location.reload()
}

/** The language that is not shown, by its own name. A person who is signed in gets mails in it too. */
export const useOtherLanguage = () => {
  // Whoever asks for the account fills it.
  const { data: account } = useQuery({ ...accountQuery, enabled: false })
  const { value: lang, label: children } = language === 'en' ? languageOptions[1] : languageOptions[0]
  const { mutate } = useChange(async () => account && api.PATCH(settings, { body: { language: lang } }), {
    announcesFailure: true,
    onDone: () => chooseLanguage(lang, account?.id ?? null),
  })
  return { lang, onClick: () => mutate(), children }
}

/** What a person chose before they signed in becomes their setting. */
const isChosenBefore = kept !== undefined && keptFor === undefined
let isAdopted = false

/** At a sign-in. Swahili follows a person into a browser where they have not chosen yet. English is also the setting of people who never chose. */
export const useOwnLanguage = (accountId: string): void => {
  const { data } = useQuery({ ...notificationSettingsQuery, enabled: hasSignedInHere() && keptFor !== accountId })
  useEffect(() => {
    // The account page reads and changes the settings too.
    if (!data || isAdopted || keptFor === accountId) return
    isAdopted = true
    // What fails now is not tried again: the choice is in the account's menu.
    if (isChosenBefore && data.language !== language) void api.PATCH(settings, { body: { language } }).catch(() => undefined)
    chooseLanguage(isChosenBefore || data.language === 'en' ? language : data.language, accountId)
  }, [data, accountId])
}
