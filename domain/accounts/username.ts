// User names that readers would take for the service itself or its staff.
const reserved = new Set(
  (
    'abuse account accounts admin administrator api billing console docs everyone help hostmaster info login logout mail ' +
    'me moderator nobody noreply null official operator owner platform postmaster privacy profile profiles qjs quantum ' +
    'root security service settings signin signup staff status superuser support sysadmin system team teams undefined ' +
    'user users webmaster www'
  ).split(' ')
)

/** In any case, and with hyphens and underscores anywhere: `Admin_` reads as `admin`. */
export const isReservedUsername = (name: string): boolean => reserved.has(name.toLowerCase().replace(/[-_]/g, ''))
