import { useState } from 'react'
import { api, providerAlertsQuery, type Schemas } from '../../api/queries.ts'
import { typeLabel } from '../../lib/rails.ts'
import { moneyText } from '../../lib/words.ts'
import { CopyButton } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { DialogButton, FormDialog, useChange } from '../../ui/form.tsx'
import { Item, Listing, Rows } from '../../ui/listing.tsx'
import { Empty, ExactTime } from '../../ui/page.tsx'

type Alert = Schemas['ProviderAlert']

/** Of an alert that our own comparison makes; any other word is the provider's. */
const ours: Readonly<Record<string, string>> = {
  another_amount: 'Another amount under a known receipt',
  another_receiver: 'Another receiver than the one that we named',
  receipt_conflict: 'Two records have the same receipt',
}
const titleOf = ({ word }: Alert): string => ours[word] ?? `The provider later said “${word}”`

const ResolveAlert = ({ alert, onClose }: { alert: Alert; onClose: () => void }) => {
  const [note, setNote] = useState('')
  const resolving = useChange(
    () => api.POST('/v1/admin/provider-alerts/{id}/resolve', { path: { id: alert.id }, body: { note: note.trim() } }),
    { announcement: 'Alert resolved', outdates: ['provider alerts'], onDone: onClose },
  )
  return (
    <FormDialog title="Resolve this alert?" action="Resolve" making={resolving} ready={note.trim() !== ''} onClose={onClose}>
      <p className="quiet">{titleOf(alert)}. No money moves: correct the account first if the provider is right.</p>
      <TextField
        label="What the provider answered"
        hint="Saved with the alert, for the audit."
        value={note}
        onChange={setNote}
        maxLength={500}
      />
    </FormDialog>
  )
}

/** Later words of providers about money that is booked. Nothing was booked for them. */
export const ProviderAlerts = ({ currency }: { currency: string }) => (
  <Listing
    title="Providers’ later words"
    note="About money that is booked already. Nothing was booked for them: ask the provider, then note the answer."
    query={providerAlertsQuery}
    empty={<Empty icon="check" title="No provider has taken anything back" />}
  >
    {(alerts) => (
      <Rows items={alerts}>
        {(alert) => {
          const subject = alert.payment_id ?? alert.topup_id
          return (
            <Item
              title={titleOf(alert)}
              note={
                <>
                  {typeLabel(alert.rail)}
                  {alert.amount_minor !== null && `, ${moneyText(alert.amount_minor, currency)}`}
                  {alert.provider_receipt !== null && `, receipt ${alert.provider_receipt}`}, <ExactTime at={alert.created_at} />
                  {subject && (
                    <span className="block">
                      <CopyButton value={subject}>{alert.payment_id ? 'Copy payment ID' : 'Copy top-up ID'}</CopyButton>
                    </span>
                  )}
                </>
              }
            >
              <DialogButton
                label={`Resolve: ${titleOf(alert)}`}
                dialog={(close) => <ResolveAlert alert={alert} onClose={close} />}
              >
                Resolve
              </DialogButton>
            </Item>
          )
        }}
      </Rows>
    )}
  </Listing>
)
