/** All values of `details.reason` in a 409, which explain why the request conflicts with the current state. */
export const conflictReasons = {
  already_member: 'The invited person is already a member.',
  already_recorded: 'It is already recorded.',
  archived: 'It is archived: it cannot be changed or paid.',
  balance: 'The account still has money.',
  balance_own: 'The workspace already has its own balance.',
  batch_item: 'The payment is an item of the batch in `details.batch_id`, which is cancelled as a whole.',
  change_pending: 'A change that makes a rule less strict or separates a balance is pending: confirm or withdraw it first.',
  decided: 'It is already decided.',
  exhausted: 'The total of the mandate is spent.',
  expired: 'It has expired.',
  grant_ended: 'The grant has ended.',
  idempotency: 'The idempotency key was used with another request.',
  identity: 'The identity belongs to another account.',
  invitation_accepted: 'The invitation is already accepted.',
  invitation_expired: 'The invitation has expired.',
  invitation_revoked: 'The invitation was revoked.',
  limit_reached: 'The maximum number is reached; `message` contains the limit and what to do.',
  late_success: 'The payment has no late success, or it is already booked.',
  message_changed: 'The text has changed since it was read or signed. Read it again, then decide.',
  no_offer: 'The difference offers no outcome that can be accepted; `message` contains what to do.',
  nonce: 'The nonce is for other terms or another wallet.',
  not_assignable: 'The money cannot be assigned in this way; `message` contains why.',
  passkey: 'The passkey is registered already.',
  paybill_frozen: 'The whole paybill is frozen, by another beneficiary.',
  payment: 'It is decided by resolving its payment; `details.payment_id` names it.',
  possible_duplicate:
    'It looks like the payment in `details.existing_payment_id`. If a second payment is intended, send that ID in `duplicate_of`.',
  provider_receipt: 'Another record already has this receipt; `details.id` contains its ID.',
  rail_may_answer:
    'The service has not asked the rail about the payment yet, or the rail may still answer. `details.from` is the time from which a person may decide.',
  revoked: 'It is already revoked.',
  rotated: 'The key is already rotated.',
  self: 'Administrators cannot do this to their own account.',
  status: 'Its status does not allow this; `details.status` names it.',
  version: 'It has changed since it was read; `details.version` is the current version.',
} as const

export type ConflictReason = keyof typeof conflictReasons

/** All values of `details.reason`, including those of errors with other statuses. */
export const errorReasons: readonly string[] = [
  ...Object.keys(conflictReasons),
  'database_lost_writes',
  'not_an_approver',
  'sign_up',
  'upgrade_running',
]
