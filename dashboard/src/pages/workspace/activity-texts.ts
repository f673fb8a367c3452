import english from '../../../../texts/activity.en.json' with { type: 'json' }
import { createTranslator } from '../../lib/language.ts'

export type ActivityText = keyof typeof english

export const { t: tActivity, isKey: isActivityText } = await createTranslator(
  english,
  () => import('../../../../texts/activity.sw.json', { with: { type: 'json' } }),
)
