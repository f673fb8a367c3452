import { shortcutsOn, switchShortcuts } from '../lib/shortcuts.ts'
import { useStore } from '../lib/store.ts'
import { Dialog } from '../ui/dialog.tsx'
import { CheckField } from '../ui/field.tsx'
import { allNav } from './nav-items.ts'

const further: readonly (readonly [keys: string, what: string])[] = [
  ['n', 'New payment'],
  ['j', 'Next approval in the list'],
  ['k', 'Previous approval in the list'],
  ['Enter', 'Open the approval'],
  ['a', 'Approve (asks before it does)'],
  ['r', 'Reject (asks before it does)'],
  ['?', 'This list'],
]

const Keys = ({ keys }: { keys: string }) => (
  <span className="row row-tight">
    {keys.split(' ').map((key) => (
      <kbd key={key}>{key}</kbd>
    ))}
  </span>
)

export const ShortcutHelp = ({ onClose }: { onClose: () => void }) => {
  const on = useStore(shortcutsOn)
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className="facts">
        {[...further, ...allNav.map(({ keys, label }) => [keys, `Go to ${label.toLowerCase()}`] as const)].flatMap(
          ([keys, what]) => [
            <dt key={`${keys}-keys`}>
              <Keys keys={keys} />
            </dt>,
            <dd key={keys}>{what}</dd>,
          ],
        )}
      </dl>
      <CheckField label="Use single-key shortcuts" checked={on} onChange={switchShortcuts} />
    </Dialog>
  )
}
