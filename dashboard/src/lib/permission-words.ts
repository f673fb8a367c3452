import type { Permission } from '../../../src/auth/permissions.ts'

/** What a permission allows, for the consent page and for a new key. */
export const permissionWords: Readonly<Record<Permission, string>> = {
  'account.read': 'See the account, its balance and history',
  'account.manage': 'Change the account and its sign-in methods',
  'key.manage': 'Create and revoke API keys',
  'grant.manage': 'Change and revoke keys and agents',
  'workspace.read': 'See the workspace and its members',
  'workspace.manage': 'Manage the workspace and its members',
  'beneficiary.read': 'See beneficiaries, with masked destinations',
  'beneficiary.manage': 'Add, change and archive beneficiaries',
  'policy.read': 'See policies and test payments',
  'policy.manage': 'Change and archive policies',
  'policy.create': 'Add policies',
  'payment.read': 'See payments',
  'payment.create': 'Make payments within its limits',
  'approval.read': 'See approvals',
  'approval.decide': 'Approve and reject payments',
  'mandate.read': 'See mandates',
  'mandate.manage': 'Revoke mandates',
  'topup.read': 'See top-ups',
  'topup.create': 'Start top-ups',
}

/** Those that let money move or rules change: worth a second look. */
export const isPowerful = (permission: Permission): boolean => /^(payment\.create|approval\.decide|.*\.manage)$/.test(permission)
