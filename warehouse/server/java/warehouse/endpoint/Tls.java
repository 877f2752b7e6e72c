package warehouse.endpoint;

import java.io.FileInputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;

/** A certificate chain and its key from PEM files; neither is written anywhere. */
class Tls {
  private static final String[] KINDS = {"RSA", "EC", "Ed25519"};

  static SSLContext context(String chain, String key) throws Exception {
    FileInputStream in = new FileInputStream(chain);
    Collection read;
    try {
      read = CertificateFactory.getInstance("X.509").generateCertificates(in);
    } finally {
      in.close();
    }
    Object[] found = read.toArray();
    Certificate[] certificates = new Certificate[found.length];
    for (int i = 0; i < found.length; i++) {
      certificates[i] = (Certificate) found[i];
    }
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    store.setKeyEntry("endpoint", key(key), new char[0], certificates);
    KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(store, new char[0]);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    return context;
  }

  static ServerSocket listen(SSLContext context, InetSocketAddress address) throws Exception {
    ServerSocket socket = context == null ? new ServerSocket() : context.getServerSocketFactory().createServerSocket();
    if (socket instanceof SSLServerSocket) {
      ((SSLServerSocket) socket).setEnabledProtocols(new String[] {"TLSv1.3", "TLSv1.2"});
    }
    socket.setReuseAddress(true);
    socket.bind(address, 128);
    return socket;
  }

  private static PrivateKey key(String file) throws Exception {
    String pem = new String(Files.readAllBytes(Paths.get(file, new String[0])), StandardCharsets.US_ASCII);
    String begin = "-----BEGIN PRIVATE KEY-----";
    int from = pem.indexOf(begin) + begin.length();
    byte[] der = Base64.getMimeDecoder().decode(pem.substring(from, pem.indexOf("-----END", from)));
    for (int i = 0; i < KINDS.length; i++) {
      try {
        return KeyFactory.getInstance(KINDS[i]).generatePrivate(new PKCS8EncodedKeySpec(der));
      } catch (java.security.spec.InvalidKeySpecException error) {
        // of another kind
      }
    }
    throw new IllegalArgumentException("the key is neither RSA, EC nor Ed25519");
  }
}
