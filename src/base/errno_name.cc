// SPDX-License-Identifier: Apache-2.0
// See errno_name.h. The translated words are those of glibc 2.36's message catalogues.
#include "base/errno_name.h"

#include <array>
#include <cerrno>
#include <string>

#include "base/text.h"

namespace pindown {
namespace {

struct Name {
  int number;
  std::string_view name;
};

/// The kernel's own ENOTSUPP (include/linux/errno.h) has no strerror text; user space prints "Unknown error 524".
constexpr int kKernelEnotsupp = 524;

constexpr Name kNames[] = {
    {EPERM, "EPERM"},
    {ENOENT, "ENOENT"},
    {EINTR, "EINTR"},
    {EIO, "EIO"},
    {ENXIO, "ENXIO"},
    {E2BIG, "E2BIG"},
    {EBADF, "EBADF"},
    {EAGAIN, "EAGAIN"},
    {ENOMEM, "ENOMEM"},
    {EACCES, "EACCES"},
    {EFAULT, "EFAULT"},
    {EBUSY, "EBUSY"},
    {EEXIST, "EEXIST"},
    {ENODEV, "ENODEV"},
    {EINVAL, "EINVAL"},
    {ENFILE, "ENFILE"},
    {EMFILE, "EMFILE"},
    {EFBIG, "EFBIG"},
    {ENOSPC, "ENOSPC"},
    {ERANGE, "ERANGE"},
    {ENOSYS, "ENOSYS"},
    {EPROTO, "EPROTO"},
    {EOVERFLOW, "EOVERFLOW"},
    {EMSGSIZE, "EMSGSIZE"},
    {EPROTONOSUPPORT, "EPROTONOSUPPORT"},
    {EOPNOTSUPP, "EOPNOTSUPP"},
    {EADDRINUSE, "EADDRINUSE"},
    {EADDRNOTAVAIL, "EADDRNOTAVAIL"},
    {ENETDOWN, "ENETDOWN"},
    {ENETUNREACH, "ENETUNREACH"},
    {ECONNABORTED, "ECONNABORTED"},
    {ECONNRESET, "ECONNRESET"},
    {ENOBUFS, "ENOBUFS"},
    {ETIMEDOUT, "ETIMEDOUT"},
    {ECONNREFUSED, "ECONNREFUSED"},
    {EHOSTUNREACH, "EHOSTUNREACH"},
    {EREMOTEIO, "EREMOTEIO"},
    {kKernelEnotsupp, "ENOTSUPP"},
};

constexpr Name kWords[] = {
    // English (the C locale)
    {ENOMEM, "Cannot allocate memory"},
    {EFAULT, "Bad address"},
    {EINVAL, "Invalid argument"},
    {EPERM, "Operation not permitted"},
    {EACCES, "Permission denied"},
    {EAGAIN, "Resource temporarily unavailable"},
    {EAGAIN, "Try again"},  // musl: "Resource temporarily unavailable"; kernel tables: "Try again"
    {EOPNOTSUPP, "Operation not supported"},
    {EOPNOTSUPP, "Not supported"},  // musl
    {EPROTONOSUPPORT, "Protocol not supported"},
    {ENODEV, "No such device"},
    {ENOENT, "No such file or directory"},
    {ENXIO, "No such device or address"},
    {EIO, "Input/output error"},
    {EIO, "I/O error"},  // musl
    {EBUSY, "Device or resource busy"},
    {ENOSPC, "No space left on device"},
    {ERANGE, "Numerical result out of range"},
    {ENOSYS, "Function not implemented"},
    {EMFILE, "Too many open files"},
    {ETIMEDOUT, "Connection timed out"},
    {ENETUNREACH, "Network is unreachable"},
    {EHOSTUNREACH, "No route to host"},
    {ECONNREFUSED, "Connection refused"},
    {ECONNRESET, "Connection reset by peer"},
    {ENOMEM, "Out of memory"},  // musl
    {EREMOTEIO, "Remote I/O error"},
    {EOVERFLOW, "Value too large for defined data type"},
    {EPROTO, "Protocol error"},
    {ENOBUFS, "No buffer space available"},
    {EADDRNOTAVAIL, "Cannot assign requested address"},
    {EFBIG, "File too large"},
    {EMSGSIZE, "Message too long"},
    {EEXIST, "File exists"},
    {EBADF, "Bad file descriptor"},
    {EINTR, "Interrupted system call"},
    // translations
    {ENOMEM, "Nicht genügend Hauptspeicher verfügbar"},
    {ENOMEM, "Ne peut allouer de la mémoire"},
    {ENOMEM, "No se pudo asignar memoria"},
    {ENOMEM, "Impossibile allocare memoria"},
    {ENOMEM, "Não foi possível alocar memória"},
    {ENOMEM, "Impossível alocar memória"},
    {ENOMEM, "Невозможно выделить память"},
    {ENOMEM, "メモリを確保できません"},
    {ENOMEM, "메모리를 할당할 수 없습니다"},
    {ENOMEM, "无法分配内存"},
    {ENOMEM, "無法配置記憶體"},
    {ENOMEM, "Nie można przydzielić pamięci"},
    {ENOMEM, "Nelze alokovat paměť"},
    {ENOMEM, "Bellek ayrılamadı"},
    {ENOMEM, "Не вдалося розподілити пам’ять"},
    {ENOMEM, "Onvoldoende geheugen beschikbaar"},
    {ENOMEM, "Kan inte allokera minne"},
    {EFAULT, "Ungültige Adresse"},
    {EFAULT, "Mauvaise adresse"},
    {EFAULT, "Dirección incorrecta"},
    {EFAULT, "Indirizzo errato"},
    {EFAULT, "Endereço inválido"},
    {EFAULT, "Mau endereço"},
    {EFAULT, "Неправильный адрес"},
    {EFAULT, "不正なアドレスです"},
    {EFAULT, "주소가 잘못됨"},
    {EFAULT, "错误的地址"},
    {EFAULT, "錯誤的位址"},
    {EFAULT, "Błędny adres"},
    {EFAULT, "Chybná adresa"},
    {EFAULT, "Adres hatalı"},
    {EFAULT, "Неправильна адреса"},
    {EFAULT, "Ongeldig adres"},
    {EFAULT, "Felaktig adress"},
    {EINVAL, "Das Argument ist ungültig"},
    {EINVAL, "Argument invalide"},
    {EINVAL, "Argumento inválido"},
    {EINVAL, "Argomento non valido"},
    {EINVAL, "Недопустимый аргумент"},
    {EINVAL, "無効な引数です"},
    {EINVAL, "부적절한 인수"},
    {EINVAL, "无效的参数"},
    {EINVAL, "不適用的引數"},
    {EINVAL, "Zły argument"},
    {EINVAL, "Nepřípustný argument"},
    {EINVAL, "Geçersiz argüman"},
    {EINVAL, "Некоректний аргумент"},
    {EINVAL, "Ongeldig argument"},
    {EINVAL, "Ogiltigt argument"},
    {EPERM, "Die Operation ist nicht erlaubt"},
    {EPERM, "Opération non permise"},
    {EPERM, "Operación no permitida"},
    {EPERM, "Operazione non permessa"},
    {EPERM, "Operação não permitida"},
    {EPERM, "Операция не позволена"},
    {EPERM, "許可されていない操作です"},
    {EPERM, "명령을 허용하지 않음"},
    {EPERM, "不允许的操作"},
    {EPERM, "此項操作並不被允許"},
    {EPERM, "Operacja niedozwolona"},
    {EPERM, "Operace není povolena"},
    {EPERM, "İşleme izin verilmedi"},
    {EPERM, "Дію заборонено"},
    {EPERM, "Actie is niet toegestaan"},
    {EPERM, "Operationen inte tillåten"},
    {EACCES, "Keine Berechtigung"},
    {EACCES, "Permission non accordée"},
    {EACCES, "Permiso denegado"},
    {EACCES, "Permesso negato"},
    {EACCES, "Permissão negada"},
    {EACCES, "Permissão recusada"},
    {EACCES, "Отказано в доступе"},
    {EACCES, "許可がありません"},
    {EACCES, "허가 거부"},
    {EACCES, "权限不够"},
    {EACCES, "拒絕不符權限的操作"},
    {EACCES, "Brak dostępu"},
    {EACCES, "Operace zamítnuta"},
    {EACCES, "Erişim engellendi"},
    {EACCES, "Відмовлено у доступі"},
    {EACCES, "Toegang geweigerd"},
    {EACCES, "Åtkomst nekas"},
    {EAGAIN, "Die Ressource ist zur Zeit nicht verfügbar"},
    {EAGAIN, "Ressource temporairement non disponible"},
    {EAGAIN, "Recurso no disponible temporalmente"},
    {EAGAIN, "Risorsa temporaneamente non disponibile"},
    {EAGAIN, "Recurso temporariamente indisponível"},
    {EAGAIN, "Ресурс временно недоступен"},
    {EAGAIN, "リソースが一時的に利用できません"},
    {EAGAIN, "자원이 일시적으로 사용 불가능함"},
    {EAGAIN, "资源暂时不可用"},
    {EAGAIN, "資源暫時無法取得"},
    {EAGAIN, "Zasoby chwilowo niedostępne"},
    {EAGAIN, "Prostředek je dočasně nepřístupný"},
    {EAGAIN, "Özkaynak geçici olarak kullanılamaz durumda"},
    {EAGAIN, "Ресурс тимчасово недоступний"},
    {EAGAIN, "Hulpbron is tijdelijk onbeschikbaar"},
    {EAGAIN, "Resursen tillfälligt otillgänglig"},
    {EOPNOTSUPP, "Die Operation wird nicht unterstützt"},
    {EOPNOTSUPP, "Opération non supportée"},
    {EOPNOTSUPP, "La operación no está soportada"},
    {EOPNOTSUPP, "Operazione non supportata"},
    {EOPNOTSUPP, "Operação sem suporte"},
    {EOPNOTSUPP, "Operação não suportada"},
    {EOPNOTSUPP, "Неподдерживаемая операция"},
    {EOPNOTSUPP, "サポートされていない操作です"},
    {EOPNOTSUPP, "명령을 지원하지 않음"},
    {EOPNOTSUPP, "不支持的操作"},
    {EOPNOTSUPP, "此項操作並不被支援"},
    {EOPNOTSUPP, "Operacja nie obsługiwana"},
    {EOPNOTSUPP, "Operace není podporována"},
    {EOPNOTSUPP, "İşlem desteklenmiyor"},
    {EOPNOTSUPP, "Дія не підтримується"},
    {EOPNOTSUPP, "Actie wordt niet ondersteund"},
    {EOPNOTSUPP, "Operationen stöds ej"},
    {ENODEV, "Kein passendes Gerät gefunden"},
    {ENODEV, "Aucun périphérique de ce type"},
    {ENODEV, "No existe el dispositivo"},
    {ENODEV, "Nessun device corrisponde"},
    {ENODEV, "Dispositivo inexistente"},
    {ENODEV, "Нет такого устройства"},
    {ENODEV, "そのようなデバイスはありません"},
    {ENODEV, "그런 장치가 없음"},
    {ENODEV, "没有那个设备"},
    {ENODEV, "沒有此一裝置"},
    {ENODEV, "Nie ma takiego urządzenia"},
    {ENODEV, "Takové zařízení neexistuje"},
    {ENODEV, "Böyle bir aygıt yok"},
    {ENODEV, "Пристрою не знайдено"},
    {ENODEV, "Onjuist apparaat"},
    {ENODEV, "Enheten finns inte"},
    {ENOENT, "Datei oder Verzeichnis nicht gefunden"},
    {ENOENT, "Aucun fichier ou dossier de ce type"},
    {ENOENT, "No existe el fichero o el directorio"},
    {ENOENT, "File o directory non esistente"},
    {ENOENT, "Arquivo ou diretório inexistente"},
    {ENOENT, "Ficheiro ou pasta inexistente"},
    {ENOENT, "Нет такого файла или каталога"},
    {ENOENT, "そのようなファイルやディレクトリはありません"},
    {ENOENT, "그런 파일이나 디렉터리가 없습니다"},
    {ENOENT, "没有那个文件或目录"},
    {ENOENT, "沒有此一檔案或目錄"},
    {ENOENT, "Nie ma takiego pliku ani katalogu"},
    {ENOENT, "Adresář nebo soubor neexistuje"},
    {ENOENT, "Böyle bir dosya ya da dizin yok"},
    {ENOENT, "Немає такого файла або каталогу"},
    {ENOENT, "Bestand of map bestaat niet"},
    {ENOENT, "Filen eller katalogen finns inte"},
    {ETIMEDOUT, "Die Wartezeit für die Verbindung ist abgelaufen"},
    {ETIMEDOUT, "Connexion terminée par expiration du délai d'attente"},
    {ETIMEDOUT, "Expiró el tiempo de conexión"},
    {ETIMEDOUT, "Connessione scaduta"},
    {ETIMEDOUT, "Tempo esgotado para conexão"},
    {ETIMEDOUT, "Ligação expirada"},
    {ETIMEDOUT, "Время ожидания соединения истекло"},
    {ETIMEDOUT, "接続がタイムアウトしました"},
    {ETIMEDOUT, "연결 시간 초과"},
    {ETIMEDOUT, "连接超时"},
    {ETIMEDOUT, "連線超過時間"},
    {ETIMEDOUT, "Przekroczony czas oczekiwania na połączenie"},
    {ETIMEDOUT, "Spojení bylo příliš dlouho neaktivní"},
    {ETIMEDOUT, "Bağlantıda zaman aşımı"},
    {ETIMEDOUT, "Перевищено інтервал очікування з'єднання"},
    {ETIMEDOUT, "Verbinding is verlopen"},
    {ETIMEDOUT, "Förbindelsens tidsgräns löpte ut"},
};

std::optional<int> from_symbol(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (is_alnum(text[end]))) ++end;
  for (const Name& entry : kNames) {
    if (text.substr(0, end) == entry.name) return entry.number;
  }
  return text.substr(0, end) == "ENOTSUP" ? std::optional<int>(EOPNOTSUPP) : std::nullopt;
}

std::optional<int> from_unknown_error(std::string_view text) {
  if (!consume(text, "Unknown error ")) return std::nullopt;
  (void)consume(text, "-");
  const auto number = parse_u64(take_digits(text));
  return number && *number < 4096 ? std::optional<int>(static_cast<int>(*number)) : std::nullopt;
}

}  // namespace

std::optional<int> errno_from_text(std::string_view text) {
  text = trim(text);
  if (text.starts_with("E")) {
    if (const auto number = from_symbol(text)) return number;
  }
  if (const auto number = from_unknown_error(text)) return number;
  // The longest match wins: "No such device or address" is not "No such device".
  const Name* best = nullptr;
  for (const Name& entry : kWords) {
    if (text.size() < entry.name.size() || !iequals(text.substr(0, entry.name.size()), entry.name)) continue;
    if (best == nullptr || entry.name.size() > best->name.size()) best = &entry;
  }
  return best != nullptr ? std::optional<int>(best->number) : std::nullopt;
}

std::string_view errno_name(int number) {
  for (const Name& entry : kNames) {
    if (entry.number == number) return entry.name;
  }
  return {};
}

}  // namespace pindown
