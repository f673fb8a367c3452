import english from '../../texts/advice.en.json' with { type: 'json' }
import type { ErrorCode } from './catalogue.ts'

/** Separate from the texts for programs, which dashboard pages do not need. */
const texts: Readonly<Record<ErrorCode, { person: string; page?: string }>> = english

/** The dashboard page on which a person can fix the error. The label of its link is in the texts. */
const pages: Partial<Record<ErrorCode, string>> = {
  api_key_revoked: '/developers',
  api_key_expired: '/developers',
  insufficient_funds: '/top-up',
  forbidden: '/workspace',
  workspace_frozen: '/workspace',
  grant_frozen: '/agents',
  beneficiary_frozen: '/beneficiaries',
  policy_denied: '/policies',
  last_identity: '/account',
  last_owner: '/workspace',
}

export type Advice = { person: string; page: { path: string; label: string } | undefined }

export const adviceOf = (code: string): Advice | undefined => {
  if (!Object.hasOwn(texts, code)) return undefined
  const { person, page: label } = texts[code as ErrorCode]
  const path = pages[code as ErrorCode]
  return { person, page: path !== undefined && label !== undefined ? { path, label } : undefined }
}
