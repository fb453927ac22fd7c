/** The names of the sample's players: common names of many countries, and odd names that test screens and spreadsheets. */

export interface Country {
  /** Its calling code. */
  code: string
  /** First names. A name in another script is followed by its Latin form: `Виктор=viktor`. */
  first: readonly string[]
  last: readonly string[]
}

const country = (code: string, first: string, last: string): Country => ({ code, first: first.split(' '), last: last.split(' ') })

export const countries: readonly Country[] = [
  country(
    '1',
    'Amelia Brandon Chloe Derek Emma Frank Grace Hunter Isla Jackson Kayla Logan',
    "Smith-Jones Walker O'Brien MacLeod Thompson Reyes St.Clair Whitfield Young",
  ),
  country(
    '353',
    'Aoife Cian Ciarán Eoin Gráinne Niamh Oisín Róisín Saoirse Siobhán',
    "O'Neil O’Sullivan Ní-Bhriain Byrne Gallagher",
  ),
  country('34', 'Álvaro Begoña Carlos Íñigo José Lucía Núria Sofía Xavi Zoé', 'García Muñoz Peña Ibáñez Vázquez Núñez Ortega'),
  country(
    '55',
    'Antônio Beatriz Caio Fernanda Gonçalo João Letícia Rosa Thiago',
    'Silva Conceição Araújo dos-Santos Guimarães Ramos',
  ),
  country(
    '33',
    'Anaïs Benoît Chloé Élodie François Gaëlle Hélène Loïc Zoë',
    "d’Angelo Lefèvre L'Hôpital Müller-Petit Bœuf Girard",
  ),
  country('49', 'Anke Björn Günter Heike Jürgen Käthe Lukas Sönke Ute', 'Müller Weiß Schröder Großmann von-Ahn Köhler Vogel'),
  country('47', 'Åse Bjørn Eirik Frøydis Håkon Ingrid Knut Øystein Þóra', 'Ødegård Lindqvist Jónsdóttir Virtanen Kjær Berg'),
  country(
    '48',
    'Agnieszka Bogdan Grażyna Kacper Łukasz Małgorzata Paweł Świętosława',
    'Nowak Wójcik Dąbrowska Żółkiewski Kamiński',
  ),
  country('420', 'Bořivoj Jiří Kateřina Ondřej Radek Šárka Tomáš Zdeněk', 'Dvořák Němcová Říha Šťastný Kučera'),
  country(
    '380',
    'Андрій=andrii Віктор=viktor Ганна=hanna Дарія=dariia Євген=yevhen Їжак=yizhak Олена=olena Тарас=taras Уляна=uliana',
    'Шевченко=shevchenko Коваль=koval Ґалаґан=galagan Мельник=melnyk Кравчук=kravchuk',
  ),
  country(
    '7',
    'Алексей=aleksei Борис=boris Виктор=viktor Екатерина=ekaterina Наталья=natalya Ольга=olga Фёдор=fedor Юлия=yulia',
    'Петров=petrov Иванова=ivanova Щербаков=shcherbakov Соловьёв=solovyov Кузнецова=kuznetsova',
  ),
  country('90', 'Ayşe Çağla Doğan Elif İbrahim Işıl Müge Ömer Şule Ümit', 'Kaya Yıldız Öztürk Şahin Çelik Güneş'),
  country(
    '30',
    'Αλέξης=alexis Γιώργος=giorgos Ελένη=eleni Κατερίνα=katerina Νίκος=nikos Σοφία=sofia',
    'Παπαδόπουλος=papadopoulos Οικονόμου=oikonomou Βασιλείου=vasileiou',
  ),
  country(
    '995',
    'გიორგი=giorgi ნინო=nino თამარ=tamar ლევან=levan ანა=ana',
    'ბერიძე=beridze კაპანაძე=kapanadze მაისურაძე=maisuradze',
  ),
  country('374', 'Արամ=aram Անահիտ=anahit Գևորգ=gevorg Լիլիթ=lilit', 'Սարգսյան=sargsyan Հակոբյան=hakobyan Պետրոսյան=petrosyan'),
  country('972', 'דוד=david יעל=yael משה=moshe נועה=noa שרה=sara תמר=tamar', 'כהן=cohen לוי=levi מזרחי=mizrahi פרידמן=friedman'),
  country(
    '20',
    'أحمد=ahmed خالد=khaled سارة=sara عمر=omar فاطمة=fatma ليلى=layla محمد=mohamed مريم=mariam',
    'السيد=elsayed حسن=hassan إبراهيم=ibrahim عبدالله=abdallah الشريف=elsherif',
  ),
  country('98', 'آرش=arash بهار=bahar پریسا=parisa رضا=reza شیرین=shirin', 'رضایی=rezaei حسینی=hosseini کریمی=karimi'),
  country('234', 'Adaeze Babajide Chidi Folaṣadé Ifeoma Ngozi Olúwáṣeun Tunde Yétúndé', 'Okafor Adéyẹmí Eze Balogun Nwosu'),
  country('233', 'Abena Akosua Ama Esi Kofi Kwabena Kwame Yaw', 'Mensah Owusu Boateng Asante'),
  country('251', 'አበበ=abebe ሰላም=selam ትዕግስት=tigist ዳዊት=dawit', 'ተስፋዬ=tesfaye በቀለ=bekele'),
  country(
    '91',
    'अर्जुन=arjun दीपिका=deepika प्रिया=priya राहुल=rahul Ananya Kavya Sanjay Vikram',
    'Patel शर्मा=sharma सिंह=singh Iyer Reddy Mukherjee',
  ),
  country('94', 'கவிதா=kavitha முருகன்=murugan Dilani Nuwan Sanduni', 'Perera Fernando சிவகுமார்=sivakumar'),
  country('66', 'กมล=kamon สมชาย=somchai มาลี=mali อรุณ=arun', 'สุขใจ=sukjai ทองดี=thongdi'),
  country('84', 'Bảo Đức Hương Linh Minh Ngọc Quang Thảo Tuấn', 'Nguyễn Trần Phạm Đặng Vũ'),
  country('62', 'Agus Bayu Dewi Eko Intan Putri Wahyu', 'Santoso Wijaya Hidayat'),
  country(
    '86',
    '伟=wei 芳=fang 秀英=xiuying 敏=min 静=jing 子涵=zihan 浩然=haoran 欣怡=xinyi',
    '李=li 王=wang 张=zhang 刘=liu 陈=chen 欧阳=ouyang',
  ),
  country(
    '81',
    '健太=kenta さくら=sakura 陽菜=hina 大翔=hiroto ゆうき=yuki 直子=naoko',
    '田中=tanaka 佐藤=sato 髙橋=takahashi 渡邊=watanabe',
  ),
  country('82', '지민=jimin 서연=seoyeon 민준=minjun 하은=haeun 도윤=doyun', '김=kim 이=lee 박=park 최=choi'),
]

export const emoji = '😀 🚀 🌙 🔥 💎 🎮 🦊 🐸 🌈 🇺🇦 🇧🇷 👨‍👩‍👧‍👦 🧑🏽‍💻 ❤️ ⚡'.split(' ')
export const words =
  'arc arcade bolt coin comet cosmo diamond disco drift echo fox frog galaxy gamer ghost hodl jolly koala lucky lunar mango moon neo nina ninja nova orbit panda pixel quest retro rocket satoshi sky solar star toad tiger ton turbo vega viper wave wolf zen zippy'.split(
    ' ',
  )

/** A player of the collection telegramUsers (§3), as in a line of an import. */
export interface Player {
  id: string
  userId: number
  createdAt: { _seconds: number; _nanoseconds: number }
  firstName?: string
  lastName?: string
  username?: string
  twitterUsername?: string
  instagramUsername?: string
  linkedInUsername?: string
  discordUsername?: string
  youtubeUsername?: string
  email?: string
  phoneNumber?: string
  tonWalletAddress?: string
  bscWallet?: string
  balance: number
}

/** Players that tests find by name, by their index in the order of ids. */
export const knownPlayers: Readonly<
  Record<number, Omit<Player, 'id' | 'userId' | 'createdAt'> & Pick<Partial<Player>, 'createdAt'>>
> = {
  1: {
    createdAt: { _seconds: 1_789_695_255, _nanoseconds: 967_000_000 },
    firstName: '😀Sky',
    lastName: 'd’Angelo',
    username: 'moon_8077',
    twitterUsername: '@moon_8077',
    discordUsername: 'moon_8077#1077',
    balance: 57_334,
  },
  512: { firstName: 'Luna', lastName: 'Mâncio', username: 'moon_8012', email: 'moon_8012@example.org', balance: 1_500.5 },
  999: {
    firstName: '月',
    username: 'moon_8050',
    tonWalletAddress: 'UQBmoon8050-moon8050_moon8050-moon8050_moon8050A',
    balance: 0,
  },
}

/** Names that could be taken for a formula, markup, SQL, a number or a missing value, or that are hard to display. */
export const oddNames: readonly Pick<Player, 'firstName' | 'lastName' | 'username'>[] = [
  {},
  { username: 'nobody_by_name' },
  { lastName: 'Lastname-Only' },
  { firstName: '.', lastName: '.' },
  { firstName: 'undefined', lastName: 'null', username: 'undefined_null' },
  { firstName: '=1+1', lastName: '+CMD', username: 'formula_fan' },
  { firstName: '@SUM(A1:A9)', lastName: '-2' },
  { firstName: '=HYPERLINK("https://example.org";"Claim")', username: 'hyper_linker' },
  { firstName: "Robert'); DROP TABLE telegram_users;--", username: 'bobby_tables' },
  { firstName: '<b>Bold</b>', lastName: '<script>alert(1)</script>', username: 'angle_brackets' },
  { firstName: '${name}', lastName: '{{player}} %s %d', username: 'template_person' },
  { firstName: '"Quoted, with commas"', lastName: 'back\\slash' },
  { firstName: '007', lastName: '1e5', username: 'just_numbers' },
  { firstName: 'N/A', lastName: 'not available' },
  { firstName: '100 % _sure_', lastName: 'like%pattern', username: 'per_cent' },
  { firstName: 'Zalgo Z̷̢̛͎a̵̡͝l̸̰̈́g̶̱̔o̵̞͠', username: 'zalgo_he_comes' },
  { firstName: '‮reversed‬', username: 'right_to_left' },
  { firstName: 'Ａｙａ', lastName: '𝓕𝓪𝓷𝓬𝔂', username: 'wide_and_fancy' },
  { firstName: '👑🚀💎🔥🌙⚡🎮', username: 'only_emoji' },
  { firstName: 'ﷺ', lastName: 'ٱلسَّلَام' },
  {
    firstName: 'Wolfeschlegelsteinhausenbergerdorffwelchevoralternwarengewissenh',
    lastName: 'aftschaferswesenschafewarenwohlgepflegeundsorgfaltigkeitbeschutz',
  },
  {
    firstName: 'Pablo Diego José Francisco de Paula Juan Nepomuceno María',
    lastName: 'de los Remedios Cipriano de la Santísima Trinidad Ruiz y Picasso',
  },
  { firstName: `Long ${'very '.repeat(60)}name`, username: 'a_very_long_name_of_32_letters_x' },
  { firstName: 'X', lastName: 'Æ A-12', username: 'x_ae_a' },
]
