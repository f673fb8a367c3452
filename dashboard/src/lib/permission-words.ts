import type { Permission } from '../../../src/auth/permissions.ts'
import english from '../../../texts/permissions.en.json' with { type: 'json' }
import { createTranslator } from './language.ts'

english satisfies Readonly<Record<Permission, string>>

/** Description of each permission. */
export const { t: wordsOfPermission } = await createTranslator(
  english,
  () => import('../../../texts/permissions.sw.json', { with: { type: 'json' } }),
)

/** Permissions that move money or change rules, which a person should check twice. */
const powerful: readonly Permission[] = [
  'account.manage',
  'key.manage',
  'grant.manage',
  'workspace.manage',
  'beneficiary.manage',
  'policy.manage',
  'payment.create',
  'approval.decide',
  'mandate.manage',
]

export const isPowerful = (permission: Permission): boolean => powerful.includes(permission)
