import { useState } from 'react'
import { api, providerAlertsQuery, type Schemas } from '../../api/queries.ts'
import { moneyText } from '../../lib/words.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { TextField } from '../../ui/field.tsx'
import { DialogButton, FormDialog, useChange } from '../../ui/form.tsx'
import { Item, List } from '../../ui/listing.tsx'
import { Empty, ExactTime } from '../../ui/page.tsx'
import { bookLabel } from './item-words.ts'
import { isReconText, tRecon } from './texts.ts'

type Alert = Schemas['ProviderAlert']

/** Findings of the service have a text. Any other `word` is the provider's own and is shown unchanged. */
const alertTitle = ({ word }: Alert): string => {
  const key = `finding.${word}`
  return isReconText(key) ? tRecon(key) : tRecon('alert.word', { word })
}

const ResolveAlert = ({ alert, onClose }: { alert: Alert; onClose: () => void }) => {
  const [note, setNote] = useState('')
  const resolving = useChange(
    () => api.POST('/v1/admin/provider-alerts/{id}/resolve', { path: { id: alert.id }, body: { note: note.trim() } }),
    { announcement: tRecon('alert.done'), invalidates: ['provider alerts'], onDone: onClose },
  )
  return (
    <FormDialog
      title={tRecon('alert.ask')}
      action={tRecon('resolve')}
      mutation={resolving}
      ready={note.trim() !== ''}
      onClose={onClose}
    >
      <p className="muted">{tRecon('alert.note', { title: alertTitle(alert) })}</p>
      <TextField
        label={tRecon('alert.answer')}
        hint={tRecon('alert.answer.hint')}
        value={note}
        onChange={setNote}
        maxLength={500}
      />
    </FormDialog>
  )
}

/** Provider reports that arrived after a payment was booked. They change nothing; a person resolves them. */
export const ProviderAlerts = ({ currency }: { currency: string }) => (
  <List
    title={tRecon('alerts')}
    note={tRecon('alerts.note')}
    query={providerAlertsQuery}
    empty={<Empty icon="check" title={tRecon('alerts.none')} />}
  >
    {(alert) => {
      const subject = alert.payment_id ?? alert.topup_id
      return (
        <Item
          title={alertTitle(alert)}
          note={
            <>
              {bookLabel(alert.rail)}
              {alert.amount_minor !== null && `, ${moneyText(alert.amount_minor, currency)}`}
              {alert.provider_receipt !== null && `, ${tRecon('alert.receipt', { receipt: alert.provider_receipt })}`},{' '}
              <ExactTime at={alert.created_at} />
              {subject && (
                <span className="block">
                  <CopyButton value={subject}>{tRecon(alert.payment_id ? 'copy_payment' : 'copy_topup')}</CopyButton>
                </span>
              )}
            </>
          }
        >
          <DialogButton
            label={tRecon('resolve_what', { name: alertTitle(alert) })}
            dialog={(close) => <ResolveAlert alert={alert} onClose={close} />}
          >
            {tRecon('resolve')}
          </DialogButton>
        </Item>
      )
    }}
  </List>
)
