import type { Permission } from '../../../src/auth/permissions.ts'

/** Lets money move or rules change: worth a second look. */
const powerful = true
const harmless = false

/** What a permission allows, for the consent page and for a new key. */
const rows: Readonly<Record<Permission, readonly [words: string, powerful: boolean]>> = {
  'account.read': ['See the account, its balance and history', harmless],
  'account.manage': ['Change the account and its sign-in methods', powerful],
  'key.manage': ['Create and revoke API keys', powerful],
  'grant.manage': ['Change and revoke keys and agents', powerful],
  'workspace.read': ['See the workspace and its members', harmless],
  'workspace.manage': ['Manage the workspace and its members', powerful],
  'beneficiary.read': ['See beneficiaries, with masked destinations', harmless],
  'beneficiary.manage': ['Add, change and archive beneficiaries', powerful],
  'policy.read': ['See policies and test payments', harmless],
  'policy.manage': ['Change and archive policies', powerful],
  'policy.create': ['Add policies', harmless],
  'payment.read': ['See payments', harmless],
  'payment.create': ['Make payments within its limits', powerful],
  'approval.read': ['See approvals', harmless],
  'approval.decide': ['Approve and reject payments', powerful],
  'mandate.read': ['See mandates', harmless],
  'mandate.manage': ['Revoke mandates', powerful],
  'topup.read': ['See top-ups', harmless],
  'topup.create': ['Start top-ups', harmless],
}

export const wordsOfPermission = (permission: Permission): string => rows[permission][0]

export const isPowerful = (permission: Permission): boolean => rows[permission][1]
