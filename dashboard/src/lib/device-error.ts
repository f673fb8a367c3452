/** Why a wallet or a passkey signed nothing, for the person at this device: support can do nothing about it. */
export class DeviceError extends Error {
  override name = 'DeviceError'
}
